import { acquiringScenarios } from "./acquiring-scenarios.ts";
import { assignmentScenarios } from "./assignment-scenarios.ts";
import { claimScenarios } from "./claim-scenarios.ts";
import { cloudFaultScenarios } from "./cloud-fault-scenarios.ts";
import { crashScenarios } from "./crash-scenarios.ts";
import { kubernetesScenarios } from "./kubernetes-scenarios.ts";
import { lostAnswerScenarios } from "./lost-answer-scenarios.ts";
import { matchScenarios } from "./match-scenarios.ts";
import { reclaimScenarios } from "./reclaim-scenarios.ts";
import { retryScenarios } from "./retry-scenarios.ts";
import type { Register } from "./scenario.ts";
import { waitingScenarios } from "./waiting-scenarios.ts";

/** Every group of scenarios by its name. */
export const SCENARIO_GROUPS: Readonly<Record<string, (scenario: Register) => void>> = {
  assignment: assignmentScenarios,
  waiting: waitingScenarios,
  "faults at the provider": cloudFaultScenarios,
  retries: retryScenarios,
  acquiring: acquiringScenarios,
  "lost answers": lostAnswerScenarios,
  reclaiming: reclaimScenarios,
  kubernetes: kubernetesScenarios,
  matching: matchScenarios,
  claims: claimScenarios,
  crashes: crashScenarios,
};
