import { assignmentScenarios } from "./assignment-scenarios.ts";
import type { Register } from "./scenario.ts";
import { waitingScenarios } from "./waiting-scenarios.ts";

/** Every group of scenarios by its name. */
export const SCENARIO_GROUPS: Readonly<Record<string, (scenario: Register) => void>> = {
  assignment: assignmentScenarios,
  waiting: waitingScenarios,
};
