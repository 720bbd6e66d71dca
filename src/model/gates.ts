import type { Reason } from "./reason.ts";
import { RETRY_REASONS } from "./resource.ts";

/** The name of a gate, as documents have it. */
export type GateID =
  | "spec"
  | "suspend"
  | "provider"
  | "selects"
  | "address"
  | "in-use"
  | "stays"
  | "deleting"
  | "provider-id"
  | "node-label"
  | "taints"
  | "ready"
  | "condition-taints"
  | "pods"
  | "machine"
  | "firewall"
  | "free"
  | "region"
  | "due"
  | "turn"
  | "pace"
  | "approval"
  | "cool-off"
  | "quota"
  | "dns-valid"
  | "zone"
  | "name-owner"
  | "serves";

/** What a gate is about: the object, the address, the node, both together, or the name. */
type GateSubject = "object" | "address" | "node" | "pair" | "name";

/** Everything known about a gate. */
interface GateFacts {
  readonly of: GateSubject;
  /** The reasons that tell that it is shut. A reason of another gate's kind counts there. */
  readonly reasons: readonly Reason[];
  /** The reasons that tell that nobody knows. Absent = none. */
  readonly unread?: readonly Reason[];
}

/** Every question that stands between an object and what it asks for, in the order in which the planner asks. */
export const GATES: Readonly<Record<GateID, GateFacts>> = {
  spec: { of: "object", reasons: ["InvalidSpec", "SelectorRefused", "PodsForbidden", "CRDTooOld", "Deleting"] },
  suspend: { of: "object", reasons: ["Suspended"] },
  provider: { of: "object", reasons: ["ProviderUnavailable", "RateLimited"] },
  selects: { of: "object", reasons: ["EmptyTarget"] },
  address: {
    of: "address",
    reasons: [
      "IPNotFound",
      "IPBlocked",
      "IPProtected",
      "Conflict",
      "DuplicateIP",
      "InvalidIP",
      "InProgress",
      "ForeignHolder",
      "NotGranted",
      "GrantsUnreadable",
    ],
    unread: ["Unreadable"],
  },
  "in-use": { of: "address", reasons: ["AboveDesired"] },
  stays: { of: "address", reasons: ["Grace"] },
  deleting: { of: "node", reasons: ["NodeDeleting"] },
  "provider-id": { of: "node", reasons: ["NoProviderID"] },
  "node-label": { of: "node", reasons: ["NodeLabelMismatch"] },
  taints: { of: "node", reasons: ["TaintNotTolerated"] },
  ready: { of: "node", reasons: ["NodeNotReady"] },
  "condition-taints": { of: "node", reasons: [] },
  pods: { of: "node", reasons: ["NoMatchingPod", "PodNotReady"] },
  machine: { of: "pair", reasons: ["UnusableProviderID", "MachineNotFound"] },
  firewall: {
    of: "pair",
    reasons: [
      "FirewallUnchangeable",
      "FirewallNotFound",
      "FirewallAmbiguous",
      "FirewallReserved",
      "FirewallNotOwned",
      "NodeWithoutFirewall",
      "FirewallFull",
      "FirewallPending",
      "FirewallStuck",
      "FirewallFailed",
      "UnusablePort",
    ],
  },
  free: { of: "pair", reasons: ["NodeHasForeignIP", "NodeHasOtherIP", "NodePromised", "StillPublished"] },
  region: { of: "pair", reasons: ["RegionMismatch", "NoRegion"] },
  due: { of: "pair", reasons: ["Backoff", ...RETRY_REASONS] },
  turn: { of: "pair", reasons: ["NoCandidate"] },
  pace: { of: "pair", reasons: ["DisruptionBudget", "Draining", "LastServing", "Limited"] },
  approval: { of: "pair", reasons: ["AwaitsApproval", "NotConfirmed"] },
  "cool-off": { of: "pair", reasons: ["CoolOff"] },
  quota: {
    of: "object",
    reasons: ["QuotaExceeded", "CreationRate", "AmbiguousAcquisition", "LostAcquisition", "AcquisitionUnanswered"],
  },
  "dns-valid": { of: "name", reasons: ["InvalidDNS"] },
  zone: { of: "name", reasons: ["ZoneNotFound"] },
  "name-owner": { of: "name", reasons: ["ForeignRecords"] },
  serves: { of: "name", reasons: ["NothingToPublish", "InvalidAddress"] },
};

/** The names of all gates, in their order. */
export const GATE_IDS: readonly GateID[] = Object.keys(GATES) as readonly GateID[];

const BY_REASON: ReadonlyMap<Reason, { readonly id: GateID; readonly isUnread: boolean }> = new Map(
  GATE_IDS.flatMap((id) => {
    const { reasons, unread = [] } = GATES[id];
    const told = [...reasons, ...unread];
    return told.map((reason, at) => [reason, { id, isUnread: at >= reasons.length }] as const);
  }),
);

/** Returns the gate that a reason tells of; undefined for one that tells of none. */
export function gateOf(reason: Reason): GateID | undefined {
  return BY_REASON.get(reason)?.id;
}

/** True for a reason that tells that nobody knows whether the gate is shut. */
export function isUnread(reason: Reason): boolean {
  return BY_REASON.get(reason)?.isUnread === true;
}
