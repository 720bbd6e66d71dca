import type { IPFamily } from "./address-source.ts";
import { addressesWithout, type OtherRecords, type Zone } from "./dns.ts";
import type { PortRange, ServedPorts } from "./firewall.ts";
import type { Reason } from "./reason.ts";

/** The object an action or hold belongs to: a FloatingIPPool, a RoutedIP or a NodeDNSRecordSet. */
export interface ObjectRef {
  readonly kind: "pool" | "dns" | "routedip";
  readonly namespace: string;
  readonly name: string;
}

/** A machine of the provider; with a node name when it is a node of this cluster. */
export interface Place {
  readonly machineID: string;
  readonly nodeName?: string;
}

/**
 * Who is hurt by an action, the mildest class first:
 *
 *   none        nobody: a free address is assigned, a name is published, drift is repaired
 *   recovery    nobody: what it takes away serves no more
 *   relocation  clients of an address whose holder still serves and no longer matches: their connections, and new ones while it moves
 *   reduction   clients of something that still serves, or of an address given back for good: the spec asks for less
 *   takeover    whoever uses the address on a machine outside the cluster
 *
 * A recovery is never paced, limited or asked about.
 */
export const IMPACT_CLASSES = ["none", "recovery", "relocation", "reduction", "takeover"] as const;

/** One of {@link IMPACT_CLASSES}. */
export type ImpactClass = (typeof IMPACT_CLASSES)[number];

/** Returns the worst of several classes; undefined for none. Pure. */
export function worstImpact<C extends ImpactClass>(classes: readonly C[]): C | undefined {
  const all: readonly ImpactClass[] = classes;
  return IMPACT_CLASSES.findLast((one): one is C & typeof one => all.includes(one));
}

interface Common {
  /** Unique within a plan and stable over passes: kind, object and subject. */
  readonly id: string;
  readonly object: ObjectRef;
  readonly reason: Reason;
  /** Ids of actions that must have succeeded first; else this one is skipped. */
  readonly requires: readonly string[];
  /** Ids of actions that must have ended first, whatever came of them. */
  readonly follows: readonly string[];
  /** Who is hurt, as `plan/impact.ts` judges it for every action of a plan; absent = `none`. */
  readonly impact?: Exclude<ImpactClass, "none">;
  /** What it takes from clients or users that have it now, also said by `plan/impact.ts`; absent = nothing. */
  readonly takes?: readonly Taken[];
}

/** An address, or a name with all its records, that a voluntary action takes from somebody. */
export interface Taken {
  /** The address, or the name in full. */
  readonly what: string;
  readonly impact: "relocation" | "reduction" | "takeover";
  readonly isName?: true;
}

/** Attaches a free address to a node's machine, or moves it there from the machine that has it. */
export interface AssignIP extends Common {
  readonly kind: "assign-ip" | "move-ip";
  readonly provider: string;
  readonly ip: string;
  /** The present holder; undefined for `assign-ip`. */
  readonly before: Place | undefined;
  readonly after: Required<Place>;
  /** Addresses that could not be read in this pass; the machine must be seen to carry none of them first. Sorted. */
  readonly mustNotCarry: readonly string[];
  /** True where it leaves a node that does not match, or is gone: the node is judged again right before each attempt. False for a holder that never was a node of this cluster. */
  readonly isHolderJudged: boolean;
  /** True where it still serves on the machine that it leaves: nobody waits for the move. */
  readonly isServing?: true;
  /** The address of the same object whose place it takes once it is there; until then that one stays published. Absent = none. */
  readonly replaces?: string;
}

/** Detaches an address and leaves it unattached. */
export interface UnassignIP extends Common {
  readonly kind: "unassign-ip";
  readonly provider: string;
  readonly ip: string;
  readonly before: Place;
  readonly after: undefined;
  /** As for {@link AssignIP}. */
  readonly isHolderJudged: boolean;
  /** Set where it is given back to the provider then: one that a person protects from that stays where it is. */
  readonly isGivenBack?: true;
}

/** Buys one address for a node's machine, or unattached in a region. */
export interface AcquireIP extends Common {
  readonly kind: "acquire-ip";
  readonly provider: string;
  /** 1, 2, … within the pool's plan. */
  readonly ordinal: number;
  /** What stands for the new address in the follow-ups of a plan: `(new 1)`, unique within the plan. Absent in a plan that nobody announces. */
  readonly newAddress?: string;
  readonly before: undefined;
  readonly after: { readonly node: Required<Place> } | { readonly region: string };
}

/** Gives an unattached address back to the provider, for good. */
export interface DeleteIP extends Common {
  readonly kind: "delete-ip";
  readonly provider: string;
  readonly ip: string;
  readonly before: Place | undefined;
  readonly after: undefined;
}

/** The annotations of one family that flipop keeps on a node. */
export interface NodeAnnotations {
  readonly address: string | undefined;
  readonly pool: string | undefined;
  /** What `flipop host` goes by; `""` = it goes. Absent where the node has none and needs none: it is not touched then. */
  readonly host?: string;
}

/** Writes or removes flipop's annotations of one node. */
export interface AnnotateNode extends Common {
  readonly kind: "annotate-node" | "clear-annotation";
  readonly nodeName: string;
  /** Of which family the annotations are; absent = IPv4. */
  readonly ipFamily?: IPFamily;
  readonly before: NodeAnnotations;
  readonly after: NodeAnnotations;
  /** Where the address is whose annotation goes, when that is a machine which never was a node, or a node to which somebody moved it. */
  readonly holder?: Place;
  /** Set where an object that stays gives the address up: the annotation stays as long as a name shows the address. */
  readonly isGivenUp?: true;
}

/** Adds or removes flipop's finalizer on an object. */
export interface SetFinalizer extends Common {
  readonly kind: "add-finalizer" | "remove-finalizer";
  readonly before: undefined;
  readonly after: undefined;
}

/** The A records of a name: what they are, and what they are to be. */
export interface RecordSetContent {
  /** Sorted, unique. */
  readonly addresses: readonly string[];
  /** Absent when there is none, when records differ in it, or when the provider decides. */
  readonly ttlSeconds?: number;
}

/** Makes the A records of a name what they should be (`update-dns`), takes addresses out ahead of what they wait for (`withdraw-dns`), or removes them (`delete-dns`). */
export interface WriteDNS extends Common {
  readonly kind: "update-dns" | "withdraw-dns" | "delete-dns";
  readonly dnsProvider: string;
  /** As the object writes it. */
  readonly zoneText: string;
  readonly zone: Zone;
  readonly fqdn: string;
  readonly before: RecordSetContent;
  readonly after: RecordSetContent & { readonly ttlSeconds: number };
  /** Set where flipop had the records so before, and somebody else changed them. */
  readonly isRepair?: true;
  /** Of the addresses that leave, those that no object has on record for the name. In the order of the records; absent = none. */
  readonly unrecorded?: readonly string[];
  /** What becomes of the records that are not this object's: they are part of `before` and `after`, and stay. Absent = all records of the name are its own. */
  readonly others?: OtherRecords;
  /** How long resolvers keep what it takes away, seconds, where the TTL of the records does not say so. */
  readonly cachedSeconds?: number;
}

/** The firewall an action is about. */
interface AtFirewall extends Common {
  readonly provider: string;
  readonly firewall: { readonly id: string; readonly name: string };
  /** What it takes away: `portText` of ports, or machine ids; sorted. */
  readonly before: readonly string[];
  /** What it brings; sorted. */
  readonly after: readonly string[];
  /** Ids of machines that the provider must have carried the change out to before it counts as done. Sorted. */
  readonly awaited: readonly string[];
}

/** Lets everybody in on ports of a cloud firewall, or no longer. */
export interface ChangePorts extends AtFirewall {
  readonly kind: "open-ports" | "close-ports";
  /** Sorted by `portText`. */
  readonly ports: readonly PortRange[];
  /** Ports that objects need there and that one of `ports` includes: it is closed only while another rule lets them in. Absent = none, or nothing is closed. */
  readonly replaced?: readonly ServedPorts[];
  /** How many machines are behind the firewall that are no nodes of this cluster: the change is for them, too. Absent = none. */
  readonly otherMachines?: number;
}

/** Puts machines behind a cloud firewall, or takes them from it. */
export interface ChangeMachines extends AtFirewall {
  readonly kind: "add-to-firewall" | "remove-from-firewall";
  /** Sorted by machine id. */
  readonly machines: readonly Place[];
}

/** Everything flipop can do to the world, Kubernetes status aside. */
export type Action =
  | AssignIP
  | UnassignIP
  | AcquireIP
  | DeleteIP
  | AnnotateNode
  | SetFinalizer
  | WriteDNS
  | ChangePorts
  | ChangeMachines;

/** The names of the actions. */
export type ActionKind = Action["kind"];

/** Names the same change of the same thing: an address tried on another node is another attempt. Pure. */
export function attemptKey({ id, before, after }: Action): string {
  return `${id} ${JSON.stringify([before, after])}`;
}

/** What an action is about: an address, a node, or the new address it will buy. */
export function subjectOf(action: Action): string {
  switch (action.kind) {
    case "assign-ip":
    case "move-ip":
    case "unassign-ip":
    case "delete-ip":
      return action.ip;
    case "acquire-ip":
      return `new-${action.ordinal}`;
    case "annotate-node":
    case "clear-annotation":
      return action.nodeName;
    case "add-finalizer":
    case "remove-finalizer":
      return `${action.object.namespace}/${action.object.name}`;
    case "update-dns":
    case "withdraw-dns":
    case "delete-dns":
      return action.fqdn;
    case "open-ports":
    case "close-ports":
    case "add-to-firewall":
    case "remove-from-firewall":
      return `firewall ${action.firewall.name}`;
  }
}

/** `KIND/NAMESPACE/NAME`: unlike `NAMESPACE/NAME` unique over all kinds of objects. */
export function refKey({ kind, namespace, name }: ObjectRef): string {
  return `${kind}/${namespace}/${name}`;
}

/** The id of an action: kind, object and subject. */
export function actionID(kind: ActionKind, object: ObjectRef, subject: string): string {
  return `${kind} ${refKey(object)} ${subject}`;
}

/** The id of a change of a name: with the provider, since an object may leave one for another under the same name. */
export function nameActionID(
  kind: ActionKind,
  object: ObjectRef,
  { fqdn, provider }: { readonly fqdn: string; readonly provider: string },
): string {
  return actionID(kind, object, `${fqdn} ${provider}`);
}

/** Returns those of the addresses that a change of a name is about: the others are left as they are. */
export function ownPart({ others }: WriteDNS, addresses: readonly string[]): readonly string[] {
  return others === undefined ? addresses : addressesWithout(addresses, others.addresses);
}

/** True for an action that takes something from clients that are served, or from others: it may be paced, limited, and asked about. */
export function isVoluntary(action: Action): boolean {
  return isHarm(action.impact ?? "none");
}

/** True for a class that hurts somebody. */
export function isHarm(impact: ImpactClass): impact is Taken["impact"] {
  return impact !== "none" && impact !== "recovery";
}

/** True for an action that sends a managed address to a node. */
export function isAssign(action: Action): action is AssignIP {
  return action.kind === "assign-ip" || action.kind === "move-ip";
}

/** Returns where an action brings an address, be it bought for that node or sent there; undefined for any other action, and for a purchase without a node. Pure. */
export function targetPlace(action: Action): Required<Place> | undefined {
  if (isAssign(action)) return action.after;
  return action.kind === "acquire-ip" && "node" in action.after ? action.after.node : undefined;
}
