import type { NodeVerdict } from "../model/plan.ts";
import { REASONS, type Reason } from "../model/reason.ts";
import { listText } from "./count-text.ts";
import { oneLine } from "./one-line.ts";

/** What to say of a node that does not match or cannot take an address, as in "3 nodeLabel mismatch". */
const PHRASES: Readonly<Partial<Record<Reason, string>>> = {
  NodeDeleting: "being deleted",
  NoProviderID: "no providerID yet",
  NodeNotReady: "not ready",
  NodeLabelMismatch: "nodeLabel mismatch",
  TaintNotTolerated: "taint not tolerated",
  NoMatchingPod: "no matching pod",
  PodNotReady: "no ready pod",
  UnusableProviderID: "unusable providerID",
  NodeHasForeignIP: "already carrying an address no object names",
  NodeHasOtherIP: "already carrying another object's address",
  RegionMismatch: "in another region than the address",
  MachineNotFound: "machine not found at the provider",
  Backoff: "last attempt failed, next one not due",
  Unreadable: "could not be read",
  FirewallNotFound: "no such firewall",
  FirewallAmbiguous: "several firewalls of that name",
  FirewallReserved: "firewall of DigitalOcean Kubernetes",
  FirewallFull: "firewall without room",
  FirewallStuck: "change of its firewall pending for long",
  FirewallFailed: "change of its firewall failed",
  InProgress: "provider still at work",
  ProviderUnavailable: "provider unavailable",
  RateLimited: "provider asked for no calls",
};

/** Returns `not ready` or `taint not tolerated: dedicated=db:NoSchedule`, for a bracket behind a node's name. */
export function nodePhrase(verdict: NodeVerdict): string {
  const phrase = PHRASES[verdict.reason] ?? REASONS[verdict.reason];
  const detail = oneLine(verdict.detail);
  return detail === "" ? phrase : `${phrase}: ${detail}`;
}

/**
 * Returns the verdicts grouped by reason, the largest group first: `3 nodeLabel mismatch (a, b and 1 more), 1 no ready pod (c)`.
 * `names` limits how many nodes a group names.
 */
export function groupVerdicts(verdicts: readonly NodeVerdict[], names: number): string {
  const groups = Map.groupBy(verdicts, (verdict) => verdict.reason);
  return [...groups]
    .sort(([a, as], [b, bs]) => bs.length - as.length || (a < b ? -1 : 1))
    .map(([reason, members]) => {
      const nodes = members.map((member) => member.nodeName);
      return `${members.length} ${PHRASES[reason] ?? reason} (${listText(nodes, names)})`;
    })
    .join(", ");
}
