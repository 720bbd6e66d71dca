import { type ObjectRef, refKey } from "./action.ts";
import type { Refusal } from "./errors.ts";
import type { Hold, NodeVerdict } from "./plan.ts";
import { type Condition, type IPFault, objectKey } from "./resource.ts";

/**
 * The closed vocabulary of reasons: the same word in plan, JSON, Events, conditions, metrics and the manual. The value is the
 * sentence that explains it. A reason explains; only an action's `kind` steers.
 */
export const REASONS = {
  // Why a node does not match.
  NodeDeleting: "The node is being deleted.",
  NoProviderID: "The node has no spec.providerID yet.",
  NodeNotReady: "The node's Ready condition is not True.",
  NodeLabelMismatch: "The node's labels are not selected by spec.match.nodeLabel.",
  TaintNotTolerated: "The node has a taint that spec.match.tolerations does not tolerate.",
  NoMatchingPod: "No pod that spec.match asks for runs on the node.",
  PodNotReady: "Pods that spec.match asks for are on the node, and none is Running and Ready.",
  // Why a match cannot take an address.
  UnusableProviderID: "The node's providerID does not name a machine of the pool's provider.",
  NodeHasForeignIP: "The machine already carries an address that no object names.",
  NodeHasOtherIP: "The machine already carries an address of another object.",
  NodePromised: "The machine is to get an address of another object.",
  RegionMismatch: "The node is in another region than the address.",
  MachineNotFound: "The provider does not know the node's machine.",
  // Why something is done.
  NodeMatched: "A matching node waits for an address.",
  HolderLost: "The holder no longer matches and a matching node waits.",
  HolderGone: "The holder is no longer a node and a matching node waits.",
  TakeOver: "spec.foreignHolder is TakeOver.",
  BelowDesired: "The pool has fewer addresses than desiredIPs.",
  AboveDesired: "The pool has more addresses than desiredIPs.",
  NotManaged: "The address was removed from the spec.",
  DropletNeeded: "The machine is needed for another address.",
  PoolDeleted: "The pool is deleted.",
  Verified: "The address is verified on the node.",
  AnnotationDrift: "The node's annotation says something else than what is verified.",
  ReclaimDelete: "spec.reclaimPolicy is Delete and flipop acquired the address.",
  NothingToReclaim: "Nothing is left that reclaimPolicy Delete would clean.",
  RecordsDiffer: "The A records differ from the addresses that serve now.",
  TTLDiffers: "The A records have another TTL than the spec asks for.",
  LeavesDNSFirst: "The address is about to leave its machine, so it leaves DNS before.",
  NameChanged: "The object publishes under another name now, or under none.",
  ObjectDeleted: "The object is deleted.",
  WhenEmptyDelete: "There is no address to publish and spec.whenEmpty is Delete.",
  PortsClosed: "The firewall does not let in what the address is to serve.",
  PortsUnneeded: "No object needs these ports any more, and flipop opened them.",
  NodeOutsideFirewall: "The node is to have the address and is not behind the firewall.",
  NodeUnneeded: "No object needs the node behind the firewall any more, and flipop put it there.",
  // Why something is not done.
  Grace: "The node became unready a moment ago and still counts as a match.",
  CoolOff: "assignmentCoolOffSeconds since the pool's last assignment are not over.",
  Settling: "More nodes may be changing; their records are written together.",
  Backoff: "The last attempt failed and the next one is not due.",
  InProgress: "The provider is still working on it.",
  NoCandidate: "No matching node can take the address.",
  ForeignHolder: "The address is on a machine that never was a node of this cluster.",
  IPNotFound: "The provider does not know the address.",
  Conflict: "Another object owns it.",
  DuplicateIP: "The address is listed twice.",
  InvalidIP: "The entry is not a canonical IPv4 address.",
  InvalidSpec: "The object's spec is invalid.",
  SelectorRefused: "The API server does not list the pods that the object asks for; its nodes are unknown.",
  Suspended: "spec.suspend is true.",
  ProviderUnavailable: "The provider cannot be used: no token, or one that is not allowed to read.",
  Unreadable: "It could not be read in this pass.",
  RateLimited:
    "The provider asked for no calls until a later time, or the calls that are left are kept for what is more urgent.",
  CreationRate: "At most 12 addresses are acquired a minute.",
  QuotaExceeded: "The account's limit of reserved addresses is reached.",
  NoRegion: "An address can be acquired only for a node or in spec.region.",
  AmbiguousAcquisition: "An earlier acquisition got no answer and several new addresses could be the one.",
  LostAcquisition:
    "The status was lost while an address was being acquired, and it cannot be told which address that is.",
  AcquisitionUnanswered: "An earlier acquisition got no answer; the account is watched before another is made.",
  InvalidDNS: "The object's DNS settings cannot be used.",
  ZoneNotFound: "The account has no such zone.",
  NothingToPublish: "No address serves now; the records stay as they are.",
  InvalidAddress: "The node's annotation is not a canonical IPv4 address.",
  NewNameFirst: "The records of the old name go once those of the new one are in place.",
  RecordsRetained: "spec.reclaimPolicy is Retain: the records of the old name stay.",
  FirewallNotFound: "The account has no such firewall.",
  FirewallAmbiguous: "Several firewalls have that name; their issuer must name one by its id.",
  FirewallReserved:
    "Firewalls whose name starts with k8s- belong to DigitalOcean Kubernetes, which overwrites changes.",
  FirewallFull: "The firewall can take no more rules or machines.",
  FirewallPending: "The firewall does not let everything in yet.",
  FirewallStuck: "The provider has been carrying out a change of the firewall for five minutes or longer.",
  FirewallFailed: "The provider gave up a change of the firewall at the machine.",
  UnusablePort: "No cloud firewall can open the port.",
  LastServing: "It is the last address of a name that serves, and leaves once another one is in.",
  StillPublished: "The address could not be taken out of DNS first.",
  PermissionMissing: "flipop is not permitted to do it.",
  CRDTooOld: "The cluster's CRD is older than this flipop and drops status fields.",
  Stale: "The world changed between plan and action.",
  Failed: "The attempt failed.",
  PrerequisiteFailed: "Something that must come first did not succeed.",
  LockLost: "The Lease was lost.",
  Deadline: "The run's time was over.",
  // Summaries on conditions.
  Ready: "All is as desired.",
  NoActiveIP: "No address is active.",
  DNSPending: "The A records are not yet as desired.",
  WaitingForAssignment: "An address and a node that could take it wait for each other.",
  Stable: "Nothing is in progress.",
  NotStalled: "Nothing waits for a person.",
} as const;

/** One word of the closed list. */
export type Reason = keyof typeof REASONS;

/** The reason that tells of a refusal. */
export const REFUSAL_REASONS: Readonly<Record<Refusal["kind"], Reason>> = {
  "no-access": "ProviderUnavailable",
  "rate-limited": "RateLimited",
  unanswered: "Unreadable",
};

/** The reason that tells of a fault of an address. */
export const FAULT_REASONS: Readonly<Record<IPFault, Reason>> = {
  conflict: "Conflict",
  invalid: "InvalidIP",
  gone: "IPNotFound",
  foreign: "ForeignHolder",
};

/** Returns the fault that a stored entry of `status.ips` tells of by its reason; undefined for none. */
export function faultOf(reason: string | undefined): IPFault | undefined {
  switch (reason) {
    case FAULT_REASONS.conflict:
      return "conflict";
    case FAULT_REASONS.invalid:
      return "invalid";
    case FAULT_REASONS.gone:
      return "gone";
    case FAULT_REASONS.foreign:
      return "foreign";
    default:
      return undefined;
  }
}

/** What Ready says of a pool whose addresses were looked at, as far as no other reason can be mistaken for it. */
const LOOKED_AT: ReadonlySet<string> = new Set<Reason>([
  "Ready",
  "NoActiveIP",
  "DNSPending",
  "WaitingForAssignment",
  "IPNotFound",
  "Conflict",
  "ForeignHolder",
  "DuplicateIP",
  "InvalidIP",
  "QuotaExceeded",
  "NoRegion",
  "AmbiguousAcquisition",
  "LostAcquisition",
]);

/** Returns `hasAddresses` of a condition with this type and reason, as part of it. */
export function addressesOf(type: string, reason: string): Pick<Condition, "hasAddresses"> {
  return type === "Ready" && LOOKED_AT.has(reason) ? { hasAddresses: true } : {};
}

/** What is said of a RoutedIP instead, where the general sentence names fields or words that it does not have. */
const SENTENCES_OF_ROUTED_IPS: Readonly<Partial<Record<Reason, string>>> = {
  BelowDesired: "It has no address, and spec.address names none.",
  AboveDesired: "It has another address now.",
  PoolDeleted: "The object is deleted.",
  ReclaimDelete: "routedIPReclaimPolicy of its issuer is Delete and flipop acquired the address.",
  RecordsRetained: "routedIPReclaimPolicy of its issuer is Retain: the records of the old name stay.",
  NothingToReclaim: "Nothing is left that routedIPReclaimPolicy Delete would clean.",
  NoRegion: "An address can be acquired only for a node or in the region of the issuer.",
};

/** Returns the sentence that explains a reason for an object of that kind. Ends with a full stop. */
export function reasonText(reason: Reason, kind: ObjectRef["kind"]): string {
  return (kind === "routedip" ? SENTENCES_OF_ROUTED_IPS[reason] : undefined) ?? REASONS[reason];
}

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
  NodePromised: "promised to another object",
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

/** Returns what to say of a node in a list: `not ready`. */
export function verdictPhrase(reason: Reason): string {
  return PHRASES[reason] ?? REASONS[reason];
}

/** Returns `not ready` or `taint not tolerated: dedicated=db:NoSchedule`, for a bracket behind a node's name. */
export function nodePhrase(verdict: NodeVerdict): string {
  const phrase = verdictPhrase(verdict.reason);
  return verdict.detail === "" ? phrase : `${phrase}: ${verdict.detail}`;
}

type Advice = Readonly<Partial<Record<Reason, string>>>;

/** What a person can do about it, where there is something. */
const ADVICE: Advice = {
  QuotaExceeded: "Ask DigitalOcean for a higher limit, or lower desiredIPs.",
  InvalidSpec: "Correct the object's spec.",
  SelectorRefused: "Correct podNamespace or podLabel, or ask who runs the API server why it refuses them.",
  InvalidIP: "Correct or remove the entry in spec.ips.",
  DuplicateIP: "Remove one of the two entries from spec.ips.",
  Conflict: "Remove it from one of the two objects.",
  IPNotFound: "Remove it from spec.ips, or check that the token belongs to the right account.",
  NoRegion: "Set spec.region.",
  AmbiguousAcquisition: "List the right one in spec.ips, or remove the others from the account.",
  LostAcquisition:
    "List it in spec.ips if it is the pool's; if none is, remove the annotation flipop.digitalocean.com/acquired from the pool to acquire another.",
  Suspended: "To go on, set spec.suspend: false.",
  InvalidDNS: "Correct its dnsRecordSet.",
  ZoneNotFound: "Create the zone, correct dnsRecordSet.zone, or use a token that may see it.",
  InvalidAddress: "Correct or remove the annotation.",
  RecordsRetained: "Remove them by hand, or set spec.reclaimPolicy: Delete.",
  FirewallNotFound: "Create it, or correct routedIPFirewallName of the issuer.",
  FirewallAmbiguous: "Put the id of the right one into routedIPFirewallName of the issuer.",
  FirewallReserved:
    "Create a firewall of your own with the cluster's tag k8s:CLUSTER-ID, and put its name into routedIPFirewallName of the issuer.",
  FirewallStuck:
    "Look at the machine and the firewall at the provider; taking the machine out of the firewall and adding it again makes the provider try anew.",
  FirewallFailed:
    "Look at the machine and the firewall at the provider; taking the machine out of the firewall and adding it again makes the provider try anew.",
  UnusablePort: "Leave it out with spec.ports, or open it by other means.",
  CRDTooOld: "Apply the CRDs of this version.",
};

/** The same for a RoutedIP, where its fields or those of its issuer are meant. */
const ADVICE_FOR_ROUTED_IPS: Advice = {
  QuotaExceeded: "Ask DigitalOcean for a higher limit, or name an address of the account in spec.address.",
  SelectorRefused: "Correct the Service, or ask who runs the API server why it refuses the list.",
  IPNotFound: "Correct spec.address, or check that the token belongs to the right account.",
  NoRegion: "Set region of the issuer.",
  AmbiguousAcquisition: "Name the right one in spec.address, or remove the others from the account.",
  LostAcquisition:
    "Name it in spec.address if it is this object's; if none is, remove the annotation flipop.digitalocean.com/acquired from the RoutedIP to acquire another.",
  RecordsRetained: "Remove them by hand, or set routedIPReclaimPolicy: Delete of the issuer.",
};

/** What of a RoutedIP, or of what it refers to, is invalid: the beginning of the text, and what to do. */
const INVALID: readonly (readonly [RegExp, string])[] = [
  [/^issuer ".*" not found/, "Create it, or correct spec.issuer."],
  [/^issuer ".*" is invalid/, "Correct the issuer."],
  [/^(unknown provider|provider) "/, "Correct provider of the issuer."],
  [/^Service ".*" not found/, "Create it, or correct spec.serviceName."],
  [/^Service ".*" is an ExternalName/, "Name a Service that pods serve."],
  [/^Error parsing node selector/, "Correct nodeLabel of the issuer."],
];

/** Returns what a person can do about a hold; undefined where there is nothing, or nothing needs to be done. */
export function adviceFor({ reason, object, detail }: Hold): string | undefined {
  if (object.kind !== "routedip") return ADVICE[reason];
  const invalid = reason === "InvalidSpec" ? INVALID.find(([text]) => text.test(detail))?.[1] : undefined;
  return invalid ?? ADVICE_FOR_ROUTED_IPS[reason] ?? ADVICE[reason];
}

/** Reasons whose particulars are a whole sentence: what failed, and what to do. */
const TOLD_BY_DETAIL: ReadonlySet<Reason> = new Set([
  "ProviderUnavailable",
  "SelectorRefused",
  "Unreadable",
  "RateLimited",
  "QuotaExceeded",
]);

/** Returns why something is not done, with the particulars: one sentence with its full stop, or what a provider said. */
export function whyHeld({ reason, object, detail }: Hold): string {
  const general = reasonText(reason, object.kind);
  if (detail === "") return general;
  if (reason === "FirewallAmbiguous") return sentence(`Several firewalls are named ${detail}`);
  if (reason === "Conflict" && detail.startsWith("owned by ")) return sentence(`It is ${detail}`);
  if (TOLD_BY_DETAIL.has(reason)) return sentence(capital(detail));
  return sentence(`${general.replace(/\.$/, "")}: ${detail}`);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Returns the text with a capital letter in front: the beginning of a sentence. A provider has its own way to write itself there. */
export function capital(text: string): string {
  if (/^digitalocean\b/.test(text)) return text.replace("digitalocean", "DigitalOcean");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns `2 of 5 addresses are missing`; undefined for a hold that keeps no address from being acquired. */
export function missingText({ missing, object }: Hold): string | undefined {
  if (missing === undefined) return undefined;
  if (object.kind === "routedip") return "its address is missing";
  const { count, desired } = missing;
  return `${count} of ${desired} ${desired === 1 ? "address" : "addresses"} ${count === 1 ? "is" : "are"} missing`;
}

/** Returns what is held, why, and what a person can do, in one text that stands alone: for conditions and `status.error`. */
export function problemText(hold: Hold): string {
  const why = whyHeld(hold);
  const advice = adviceFor(hold);
  const told = advice === undefined ? why : `${why} ${advice}`;
  const missing = missingText(hold);
  if (missing !== undefined) return `${missing}: ${told.replace(/^(The|An|A|It)\b/, (word) => word.toLowerCase())}`;
  return isAboutObject(hold) ? told : `${hold.subject}: ${told}`;
}

/** True where the subject of a hold is the object itself. */
export function isAboutObject({ subject, object }: Hold): boolean {
  return subject === "" || subject === refKey(object) || subject === objectKey(object);
}
