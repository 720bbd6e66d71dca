import { acquiringScenarios } from "./acquiring-scenarios.ts";
import { assignmentScenarios } from "./assignment-scenarios.ts";
import { claimScenarios } from "./claim-scenarios.ts";
import { cloudFaultScenarios } from "./cloud-fault-scenarios.ts";
import { crashScenarios } from "./crash-scenarios.ts";
import { interruptedScenarios } from "./interrupted-scenarios.ts";
import { kubernetesScenarios } from "./kubernetes-scenarios.ts";
import { lostAnswerScenarios } from "./lost-answer-scenarios.ts";
import { lostStatusScenarios } from "./lost-status-scenarios.ts";
import { matchScenarios } from "./match-scenarios.ts";
import { mishapScenarios } from "./mishap-scenarios.ts";
import { reclaimScenarios } from "./reclaim-scenarios.ts";
import { removedAddressScenarios } from "./removed-address-scenarios.ts";
import { retryScenarios } from "./retry-scenarios.ts";
import type { Register } from "./scenario.ts";
import { skippedNodeScenarios } from "./skipped-node-scenarios.ts";
import { unreadableScenarios } from "./unreadable-scenarios.ts";
import { waitingScenarios } from "./waiting-scenarios.ts";

/** Every group of scenarios by its name. */
export const SCENARIO_GROUPS: Readonly<Record<string, (scenario: Register) => void>> = {
  assignment: assignmentScenarios,
  "skipped nodes": skippedNodeScenarios,
  waiting: waitingScenarios,
  "faults at the provider": cloudFaultScenarios,
  unreadable: unreadableScenarios,
  retries: retryScenarios,
  acquiring: acquiringScenarios,
  "lost answers": lostAnswerScenarios,
  reclaiming: reclaimScenarios,
  "removed addresses": removedAddressScenarios,
  kubernetes: kubernetesScenarios,
  "lost statuses": lostStatusScenarios,
  matching: matchScenarios,
  claims: claimScenarios,
  crashes: crashScenarios,
  mishaps: mishapScenarios,
  interruptions: interruptedScenarios,
};
