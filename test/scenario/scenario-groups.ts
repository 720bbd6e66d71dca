import { acquiringScenarios } from "./acquiring-scenarios.ts";
import { approvalScenarios } from "./approval-scenarios.ts";
import { assignmentScenarios } from "./assignment-scenarios.ts";
import { backupScenarios } from "./backup-scenarios.ts";
import { budgetScenarios } from "./budget-scenarios.ts";
import { claimScenarios } from "./claim-scenarios.ts";
import { cloudFaultScenarios } from "./cloud-fault-scenarios.ts";
import { crashScenarios } from "./crash-scenarios.ts";
import { dnsClaimScenarios } from "./dns-claim-scenarios.ts";
import { dnsCrashScenarios } from "./dns-crash-scenarios.ts";
import { dnsDeathScenarios } from "./dns-death-scenarios.ts";
import { dnsDriftScenarios } from "./dns-drift-scenarios.ts";
import { dnsFaultScenarios } from "./dns-fault-scenarios.ts";
import { dnsHistoryScenarios } from "./dns-history-scenarios.ts";
import { dnsManifestScenarios } from "./dns-manifest-scenarios.ts";
import { dnsNameScenarios } from "./dns-name-scenarios.ts";
import { dnsPoolScenarios } from "./dns-pool-scenarios.ts";
import { dnsAnnotationScenarios, dnsRecordSetScenarios } from "./dns-record-set-scenarios.ts";
import { dnsTakeDownScenarios } from "./dns-take-down-scenarios.ts";
import { dnsTogetherScenarios } from "./dns-together-scenarios.ts";
import { drainChangeScenarios } from "./drain-change-scenarios.ts";
import { drainDeathScenarios } from "./drain-death-scenarios.ts";
import { dualStackScenarios } from "./dual-stack-scenarios.ts";
import { exchangeScenarios } from "./exchange-scenarios.ts";
import { fairPurchaseScenarios } from "./fair-purchase-scenarios.ts";
import { fightScenarios } from "./fight-scenarios.ts";
import { foreignRecordScenarios } from "./foreign-record-scenarios.ts";
import { formerNameScenarios } from "./former-name-scenarios.ts";
import { grantScenarios } from "./grant-scenarios.ts";
import { guardTourScenarios } from "./guard-tour-scenarios.ts";
import { handOverScenarios } from "./hand-over-scenarios.ts";
import { heirScenarios } from "./heir-scenarios.ts";
import { noHostAddressScenarios } from "./host-address-scenarios.ts";
import { impactScenarios } from "./impact-scenarios.ts";
import { inheritedScenarios } from "./inherited-scenarios.ts";
import { interruptedScenarios } from "./interrupted-scenarios.ts";
import { kubernetesScenarios } from "./kubernetes-scenarios.ts";
import { limitScenarios } from "./limit-scenarios.ts";
import { lostAnswerScenarios } from "./lost-answer-scenarios.ts";
import { lostMemoryScenarios } from "./lost-memory-scenarios.ts";
import { lostStatusScenarios } from "./lost-status-scenarios.ts";
import { matchScenarios } from "./match-scenarios.ts";
import { mishapScenarios } from "./mishap-scenarios.ts";
import { movableIPv6Scenarios } from "./movable-ipv6-scenarios.ts";
import { namedAddressScenarios } from "./named-address-scenarios.ts";
import { neighbourScenarios } from "./neighbour-scenarios.ts";
import { neverServedScenarios } from "./never-served-scenarios.ts";
import { noticeScenarios } from "./notice-scenarios.ts";
import { oddNameScenarios } from "./odd-name-scenarios.ts";
import { oddZoneScenarios } from "./odd-zone-scenarios.ts";
import { oneShotScenarios } from "./one-shot-scenarios.ts";
import { outsideOwnerScenarios } from "./outside-owner-scenarios.ts";
import { paceScenarios } from "./pace-scenarios.ts";
import { pendingFirewallScenarios } from "./pending-firewall-scenarios.ts";
import { printedScenarios } from "./printed-scenarios.ts";
import { reclaimScenarios } from "./reclaim-scenarios.ts";
import { recoveredHolderScenarios } from "./recovered-holder-scenarios.ts";
import { recoveryFirstScenarios } from "./recovery-first-scenarios.ts";
import { refusedMoveScenarios } from "./refused-move-scenarios.ts";
import { refusedWithdrawalScenarios } from "./refused-withdrawal-scenarios.ts";
import { removedAddressScenarios } from "./removed-address-scenarios.ts";
import { retryScenarios } from "./retry-scenarios.ts";
import { routedIPFaultScenarios } from "./routed-ip-fault-scenarios.ts";
import { routedIPScenarios } from "./routed-ip-scenarios.ts";
import { savedPlanScenarios } from "./saved-plan-scenarios.ts";
import type { Register } from "./scenario.ts";
import { selectorScenarios } from "./selector-scenarios.ts";
import { onePerNodeScenarios } from "./several-per-node-scenarios.ts";
import { shardScenarios } from "./shard-scenarios.ts";
import { sharedNameScenarios } from "./shared-name-scenarios.ts";
import { sharedNameTrialScenarios } from "./shared-name-trial-scenarios.ts";
import { skippedNodeScenarios } from "./skipped-node-scenarios.ts";
import { strandedScenarios } from "./stranded-scenarios.ts";
import { suspendScenarios } from "./suspend-scenarios.ts";
import { swapScenarios } from "./swap-scenarios.ts";
import { turbulenceScenarios } from "./turbulence-scenarios.ts";
import { unreadableScenarios } from "./unreadable-scenarios.ts";
import { waitingScenarios } from "./waiting-scenarios.ts";

/** Every group of scenarios by its name. */
export const SCENARIO_GROUPS: Readonly<Record<string, (scenario: Register) => void>> = {
  assignment: assignmentScenarios,
  grants: grantScenarios,
  "skipped nodes": skippedNodeScenarios,
  waiting: waitingScenarios,
  "recovered holders": recoveredHolderScenarios,
  "faults at the provider": cloudFaultScenarios,
  unreadable: unreadableScenarios,
  retries: retryScenarios,
  acquiring: acquiringScenarios,
  "fair purchases": fairPurchaseScenarios,
  "runs every minute": oneShotScenarios,
  "lost answers": lostAnswerScenarios,
  reclaiming: reclaimScenarios,
  "removed addresses": removedAddressScenarios,
  kubernetes: kubernetesScenarios,
  "lost statuses": lostStatusScenarios,
  "lost memory": lostMemoryScenarios,
  "restored backups": backupScenarios,
  matching: matchScenarios,
  selectors: selectorScenarios,
  claims: claimScenarios,
  crashes: crashScenarios,
  mishaps: mishapScenarios,
  suspensions: suspendScenarios,
  limits: limitScenarios,
  approvals: approvalScenarios,
  interruptions: interruptedScenarios,
  neighbours: neighbourScenarios,
  "calls as a budget": budgetScenarios,
  "DNS of pools": dnsPoolScenarios,
  "DNS take-down": dnsTakeDownScenarios,
  "DNS drift": dnsDriftScenarios,
  "DNS of others": outsideOwnerScenarios,
  "fights over names": fightScenarios,
  "DNS faults": dnsFaultScenarios,
  "DNS names": dnsNameScenarios,
  "DNS manifests": dnsManifestScenarios,
  "DNS crashes": dnsCrashScenarios,
  "DNS deaths": dnsDeathScenarios,
  "DNS of odd zones": oddZoneScenarios,
  "DNS together": dnsTogetherScenarios,
  "DNS histories": dnsHistoryScenarios,
  "DNS claims": dnsClaimScenarios,
  "DNS record sets": dnsRecordSetScenarios,
  "DNS of both families": dualStackScenarios,
  "movable IPv6 addresses": movableIPv6Scenarios,
  "DNS annotations": dnsAnnotationScenarios,
  "foreign records": foreignRecordScenarios,
  "former names": formerNameScenarios,
  "shared names": sharedNameScenarios,
  "shared names on trial": sharedNameTrialScenarios,
  "routed IPs": routedIPScenarios,
  "faults at firewalls": routedIPFaultScenarios,
  "pending firewalls": pendingFirewallScenarios,
  "named addresses": namedAddressScenarios,
  "odd names": oddNameScenarios,
  "what kubectl prints": printedScenarios,
  "who is hurt": impactScenarios,
  pace: paceScenarios,
  "changes in the middle of a drain": drainChangeScenarios,
  "deaths before and in a drain": drainDeathScenarios,
  "addresses handed over": handOverScenarios,
  "addresses exchanged": exchangeScenarios,
  "addresses inherited": inheritedScenarios,
  "addresses that never served": neverServedScenarios,
  "addresses that make room for others": swapScenarios,
  "addresses left to heirs": heirScenarios,
  guardrails: guardTourScenarios,
  "saved plans": savedPlanScenarios,
  notices: noticeScenarios,
  "one address on a node": onePerNodeScenarios,
  "no address of hosts": noHostAddressScenarios,
  "objects that change their shard": shardScenarios,
  "recovery first": recoveryFirstScenarios,
  "refused moves": refusedMoveScenarios,
  "addresses stranded on nodes of others": strandedScenarios,
  "refused withdrawals": refusedWithdrawalScenarios,
  turbulence: turbulenceScenarios,
};
