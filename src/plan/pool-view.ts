import type { Action, ObjectRef, Place } from "../model/action.ts";
import { type AcquiredIP, type Address, type AddressFact, entryOf } from "../model/address.ts";
import type { NodeFacts } from "../model/node.ts";
import type { ProviderFacts } from "../model/observation.ts";
import type { Hold, NodeVerdict, Obstacle } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import { type HostAddressPolicy, type IPStatus, ownAddresses, type Pool } from "../model/resource.ts";
import type { Suspended } from "../model/suspension.ts";
import { parseTime } from "../model/time.ts";
import type { Cleaning } from "./finalizer.ts";
import type { FirewallTarget } from "./firewalls/firewall-target.ts";
import type { HeldWishes } from "./grants.ts";
import type { EmptyTarget } from "./holds.ts";
import type { Retries } from "./retries.ts";
import type { Validation } from "./validate.ts";
import type { Withheld } from "./withhold.ts";

/** Everything the planner works out about one pool before it decides who gets what. All subjects of the planner read it. */
export interface PoolView {
  readonly pool: Pool;
  /** As {@link ownerKey} names it. */
  readonly key: string;
  readonly object: ObjectRef;
  /** The API server's clock when the pass began to plan, milliseconds. */
  readonly nowMs: number;
  /** The same clock when the nodes had been listed: the same throughout a pass. */
  readonly readAtMs: number;
  /** False when the run may not write for it: other namespace, other target. */
  readonly isSelected: boolean;
  /** True where another process works for it: what is decided here is what that one decides. Absent = this run does. */
  readonly isOthers?: true;
  readonly validation: Validation;
  /** What it may not do for want of a grant. */
  readonly held: HeldWishes;
  /** Why nothing at all can be done for it in this pass; absent when something can. */
  readonly blocked?: Obstacle;
  /** What lets it stand still now; absent while nothing does. */
  readonly suspended?: Suspended;
  /** Addresses that the run does not take from whoever has them, with the reason. */
  readonly withheld: Withheld;
  /** Undefined when the pool is blocked. */
  readonly provider: ProviderFacts | undefined;
  /** Nodes that match, sorted by name. */
  readonly matches: readonly NodeFacts[];
  readonly notMatching: readonly NodeVerdict[];
  /** When time alone may change which nodes match, or end a grace, milliseconds; `Infinity` = never. */
  readonly judgedUntilMs: number;
  readonly managed: readonly ManagedIP[];
  readonly badEntries: readonly BadEntry[];
  readonly released: readonly Released[];
  /** Addresses that were its own, that another object manages now, and that still serve its clients. */
  readonly handedOver: readonly Released[];
  /** The objects that handed an address to this one and whose clients it still serves, by address. Absent = none. */
  readonly formerOwners?: ReadonlyMap<string, readonly PoolView[]>;
  /** Managed addresses that the object never used where they are, and that names show, or did until a while ago: the object whose they were is gone. Absent = none. */
  readonly inherited?: ReadonlySet<string>;
  /** Managed addresses in use. */
  readonly inUse: ReadonlySet<string>;
  /** Set while a RoutedIP uses the address that was acquired for it although its spec names another one. */
  readonly succession?: Succession;
  /** How many addresses the pool should have; 0 if its spec is invalid. */
  readonly desired: number;
  /** Acquired addresses, those just found again included; the ones that are gone excluded. */
  readonly acquired: readonly AcquiredIP[];
  /** One per pending acquisition of the status, in its order. */
  readonly pending: readonly PendingResolution[];
  readonly retries: Retries;
  readonly firewall: FirewallTarget;
  /** Returns why no address of the pool may go to a machine for its firewall's sake; undefined if one may. */
  readonly firewallObstacle: (place: Place) => Obstacle | undefined;
  /** Why no address of the pool can serve anywhere before a person has acted at its firewall; absent where one may. */
  readonly deadEnd?: Obstacle;
  /** Present while the object asks for what nobody has, and served before. Then nothing is taken from what serves. */
  readonly emptyTarget?: EmptyTarget;
  /** Until when addresses that are not to serve where they are stay there, since resolvers may hand them out, milliseconds; also times that are over. Absent = none. */
  readonly drains?: ReadonlyMap<string, DrainEnd>;
  /** Released and inherited addresses that stay in names until others serve there, while the object's other ones leave their machines one after another. Absent = none. */
  readonly staying?: ReadonlySet<string>;
  /** Whether clients of the object reach an address where it is, whatever is planned for it. */
  readonly isServedThere: (address: Address) => boolean;
  /** How many addresses a node may have that has one of the object; never more than the provider gives a machine. */
  readonly maxPerNode: number;
  /** True where the spec says how many addresses a node may have, and its provider gives a machine several. */
  readonly isForSeveral?: true;
  /** Set where the spec asks for more on a node than the provider gives a machine. */
  readonly isOnePerNode?: true;
  /** True where an address is bought for a region only, and assigned afterwards. */
  readonly buysUnattached?: true;
  /** False if the pool's provider can only move an address by two calls: unassign, then assign. */
  readonly isMoveOneCall: boolean;
  /** Set if the system of a machine must have its address, too, which nobody sees: whether `flipop host` puts it there, or something else. */
  readonly hosts?: HostAddressPolicy;
  /** Returns the machine of a provider ID; undefined if the id is none of the pool's provider. */
  readonly machineOf: MachineOf;
  /** Returns the provider ID of a machine of the pool's provider. */
  readonly providerIDOf: (machineID: string) => string;
  /** Returns the region or zone of a node, as the pool's provider tells them apart; `""` if the node does not say. */
  readonly regionOf: (node: NodeFacts) => string;
  /** Returns the place within which an address of a region can go to any machine of the pool's provider. */
  readonly areaOf: (region: string) => string;
  /** Names a machine of the pool's provider, with its node where it is one. */
  readonly placeOf: (machineID: string) => Place;
}

/** Which nodes an object's `spec.match` wants, and why not the others. */
export interface Verdicts {
  /** Nodes that match, in the order of the observation. */
  readonly matches: readonly NodeFacts[];
  readonly notMatching: readonly NodeVerdict[];
  /** Unreadable nodes, which are among those that do not match, with the text why. */
  readonly undecided: readonly { readonly node: NodeFacts; readonly why: string }[];
  /** Nodes that have to rest, or whose pods have to, in the order of the observation. */
  readonly restless: readonly NodeFacts[];
  readonly of: (node: NodeFacts) => MatchVerdict;
  /** When the first node may be judged otherwise by time alone, milliseconds; `Infinity` = never. */
  readonly untilMs: number;
}

/**
 * Whether a node satisfies `spec.match`.
 *
 * A node that does not match is `unready` when only its own or its pods' readiness is missing: grace can apply. `sinceMs` is then the
 * earliest time at which the cluster itself shows that it stopped matching, when it shows one. Any other violation makes it `excluded`. A node is `unreadable`
 * if nobody can tell whether it matches; then nothing about it is changed.
 */
export type MatchVerdict =
  | { readonly kind: "match" }
  | { readonly kind: "unready"; readonly reason: Reason; readonly detail: string; readonly sinceMs?: number }
  | { readonly kind: "unreadable"; readonly reason: "Unreadable"; readonly detail: string }
  | { readonly kind: "excluded"; readonly reason: Reason; readonly detail: string };

/** By machine id: a node. */
export type NodeByMachine = Pick<ReadonlyMap<string, NodeFacts>, "get">;

/** Returns the machine of a provider ID; undefined if the id is none of the provider. */
export type MachineOf = (providerID: string) => string | undefined;

/** An entry of `spec.ips` that cannot be used. */
export type BadEntry = { readonly entry: string } & (
  | { readonly fault: "duplicate" }
  /** What is wrong with it, without the entry: `is not an IPv6 address`. */
  | { readonly fault: "invalid"; readonly problem: string }
);

/** A managed address with its position. */
export interface ManagedIP {
  readonly ip: string;
  /** Present when flipop acquired it and the spec does not list it, which would make it the owner's; `isAdopted` = found again, never to be deleted. */
  readonly acquired?: { readonly isAdopted: boolean };
  readonly standing: Standing;
}

/** An address the object no longer manages and still remembers, because it is attached or could not be read. */
export interface Released {
  readonly ip: string;
  readonly fact: Extract<AddressFact, { kind: "known" | "gap" }>;
  /** True where clients reach it: its node matches, or still serves. */
  readonly isServing: boolean;
}

/** A RoutedIP whose spec names an address that does not serve yet, while one that flipop acquired for it may still serve. */
export interface Succession {
  readonly named: string;
  readonly bought: string;
  /** Those of the two that are in use. */
  readonly inUse: readonly string[];
}

/** What became of a pending acquisition. */
export type PendingResolution =
  | { readonly kind: "found"; readonly acquired: AcquiredIP }
  | { readonly kind: "never-made" }
  /** A person said which address it is, by listing this one. */
  | { readonly kind: "listed"; readonly ip: string }
  | { readonly kind: "waiting"; readonly untilMs: number | undefined }
  | { readonly kind: "ambiguous"; readonly candidates: readonly string[] };

/**
 * The position of a managed address, from what was read and what status remembers.
 *
 *   placed     on a matching node, on one in grace, or for now on one that only serves
 *   free       can be assigned at once: unattached, on the machine of a former node, on a node that does not match, or on a foreign machine that may be taken over
 *   busy       the provider is working on it
 *   foreign    on a machine that never was a node of this cluster
 *   blocked    the provider lets nothing through to it, wherever it is
 *   gone       the provider does not know it
 *   gap        it could not be read
 *   conflict   another object owns it
 *   ungranted  its namespace is not granted it, and the object does not have it on record
 */
export type Standing =
  | {
      readonly kind: "placed";
      readonly on: Required<Place>;
      readonly wasActive: boolean;
      readonly unready?: Unready;
      /** Set on a node that does not match and still serves, where the address stays for now: what it is apart from that. */
      readonly staying?: Free;
    }
  | Free
  | {
      readonly kind: "busy";
      readonly holder: Place | undefined;
      readonly isForeign: boolean;
      /** True where it serves nobody, and nobody once the provider is done: neither the node that has it serves, nor the one that it goes to. */
      readonly isLost?: true;
      /** True while it is on a node that the object does not ask for by its labels. */
      readonly isStranded?: true;
    }
  | { readonly kind: "foreign"; readonly holder: Place }
  | { readonly kind: "blocked"; readonly on: Place | undefined }
  | { readonly kind: "gone" }
  | { readonly kind: "gap"; readonly error: string }
  | { readonly kind: "conflict"; readonly owner: string; readonly right: string }
  | { readonly kind: "ungranted"; readonly why: Obstacle };

/** An address that can be assigned at once. On a node that does not match: since when. */
export interface Free {
  readonly kind: "free";
  readonly from: Place | undefined;
  readonly rank: FreeRank;
  readonly sinceMs?: number;
  /** True on a node that does not match and still serves the address to clients: taking it away is a relocation. */
  readonly isServing?: true;
  /** True on a node, or on the machine of one that is gone, for an address that the object never used there. */
  readonly isNew?: true;
  /** True on a node that is up for an address that the object never used there, and that no other object remembers. */
  readonly isUnused?: true;
  /** True on a node that the object does not ask for by its labels, and where the address serves the object no more, or never did. */
  readonly isStranded?: true;
  /** True where the node's annotation shows it as another object's. */
  readonly isAnnotated?: true;
}

/** Until when an address stays that is to leave its machine, milliseconds. */
export interface DrainEnd {
  readonly untilMs: number;
  /** For how long it drains from when it has left its names, seconds. Set while names show it that are about to let it go: until then nobody knows the end. */
  readonly forSeconds?: number;
}

/** A holder that is unready and still counts as a match. */
export interface Unready {
  readonly sinceMs: number;
  readonly graceUntilMs: number;
}

/** Free addresses are taken in this order. `excess`: on a node that matches and has more addresses of the object than it may have. */
export type FreeRank = "unassigned" | "node-gone" | "not-matching" | "excess" | "foreign";

/** What is done about the addresses of one pool. */
export interface Decision {
  readonly view: PoolView;
  readonly actions: readonly Action[];
  /** What is done once addresses have drained that leave their names now: a person is asked about it before they do. */
  readonly later: readonly Action[];
  readonly holds: readonly Hold[];
  /** Why free addresses are not assigned; told also of a pool that this run may not write. */
  readonly unassigned: readonly Hold[];
  /** Matches that wait for an address and can take one, sorted. */
  readonly waiting: readonly string[];
  /** Matches that can take no address, with the reason. */
  readonly skipped: readonly NodeVerdict[];
  readonly cleaning: Cleaning;
}

/** True for an address that stays for now on a node which does not match and still serves it. */
export function isStaying({ standing }: Pick<ManagedIP, "standing">): boolean {
  return standing.kind === "placed" && standing.staying !== undefined;
}

/** True for an address, managed or released, that clients reach where it is: those of the object, or of one whose it was. */
export function isServedBy({ managed, released, formerOwners, inherited }: PoolView, ip: string): boolean {
  return (
    formerOwners?.has(ip) === true ||
    inherited?.has(ip) === true ||
    managed.some((address) => address.ip === ip && servesNow(address)) ||
    released.some((address) => address.ip === ip && address.isServing)
  );
}

/** True for an address that clients reach where it is. */
export function servesNow({ standing }: Pick<ManagedIP, "standing">): boolean {
  if (standing.kind === "placed") return standing.unready === undefined;
  return standing.kind === "free" && standing.isServing === true;
}

/** True when this pass may change things for the object. */
export function isWritable(view: PoolView): boolean {
  return (
    view.isSelected && view.validation.kind === "valid" && view.suspended === undefined && view.provider !== undefined
  );
}

/**
 * True for a deleted object that cannot be worked on, such as one of an unknown provider, and has nothing on record that would have to be cleaned up: what was bought, written or
 * opened for it is gone. Nothing has to keep it.
 */
export function isLeftEmpty(view: PoolView): boolean {
  const { isSelected, suspended, pool } = view;
  const { acquired, pendingAcquisitions, publishedDNS, formerDNS, firewalls = [] } = pool.status;
  const isEmpty = acquired.length + pendingAcquisitions.length + formerDNS.length + firewalls.length === 0;
  const isBlocked = isSelected && suspended === undefined && !isWritable(view);
  return isBlocked && pool.meta.isDeleting && isEmpty && publishedDNS === undefined;
}

/** True for an address that the object asks for, or still uses: neither is surplus. */
export function isAsked({ inUse, succession }: Pick<PoolView, "inUse" | "succession">, ip: string): boolean {
  return inUse.has(ip) || succession?.named === ip || succession?.bought === ip;
}

/** How many of the desired addresses there are, or may be: every managed address, entries that are no addresses, and pending acquisitions. */
export function countedIPs(view: PoolView): number {
  const invalid = view.badEntries.filter(({ fault }) => fault === "invalid").length;
  const open = view.pending.filter(({ kind }) => kind === "waiting" || kind === "ambiguous").length;
  return view.managed.length + invalid + open;
}

/** Returns the stored status of one address; undefined where there is none. */
export function statusOf(pool: Pool, ip: string): IPStatus | undefined {
  return entryOf(pool.status.ips, ip);
}

/** Returns the machine that an address is on its way to for the object, as far as status and provider show it, whether the object still manages it or not. Pure. */
export function comingMachine(
  { status }: Pool,
  { ip, holderID, isLocked }: Address,
  machineOf: MachineOf,
): string | undefined {
  const sent = entryOf(status.ips, ip);
  const { providerID = "" } = sent ?? status.released.find((entry) => entry.ip === ip) ?? {};
  const machine = machineOf(providerID);
  const isOnItsWay = sent?.state === "in-progress" || isLocked;
  return isOnItsWay && machine !== holderID ? machine : undefined;
}

/** Returns until when an address stays by status once it has left its names, be it managed or released; undefined where status says nothing of it. */
export function storedDrain(pool: Pool, ip: string): string | undefined {
  return statusOf(pool, ip)?.drainingUntil ?? pool.status.released.find((entry) => entry.ip === ip)?.drainingUntil;
}

/** Returns for how long an address drains from when it has left its names, seconds, where it is about to leave them by status. */
export function storedDrainSeconds(pool: Pool, ip: string): number | undefined {
  const released = pool.status.released.find((entry) => entry.ip === ip);
  return statusOf(pool, ip)?.drainsForSeconds ?? released?.drainsForSeconds;
}

/** True for an address that the object's name shows as its own, by status. Pure. */
export function isShownByName({ status: { publishedDNS } }: Pool, ip: string): boolean {
  return publishedDNS !== undefined && ownAddresses(publishedDNS).includes(ip);
}

/**
 * Returns the end of {@link storedDrain}, milliseconds; undefined where there is none. Status has since when the address leaves, too. Where that time has not come the
 * clock was set back, and the drain lasts from now no longer than it did. Pure.
 */
export function drainEndMs(pool: Pool, ip: string, nowMs: number): number | undefined {
  const untilMs = parseTime(storedDrain(pool, ip) ?? "");
  const released = pool.status.released.find((entry) => entry.ip === ip);
  const beganMs = parseTime(statusOf(pool, ip)?.notMatchingSince ?? released?.releasedAt ?? "");
  if (untilMs === undefined || beganMs === undefined || beganMs <= nowMs) return untilMs;
  return Math.min(untilMs, nowMs + Math.max(0, untilMs - beganMs));
}

/** True for an entry of a status that shows an address, or what was taken for one, as not the object's own: it never was used. */
export function isNotOwn({ state, fault }: IPStatus): boolean {
  const isRefused = state === "error" && (fault === "ungranted" || fault === "unknown");
  return isRefused || fault === "conflict" || fault === "invalid";
}

/** The addresses that a status has as the object's own, or as those that it released. Pure. */
export function rememberedIPs({ status: { ips, released } }: Pick<Pool, "status">): ReadonlySet<string> {
  const own = Object.entries(ips).flatMap(([ip, entry]) => (isNotOwn(entry) ? [] : [ip]));
  return new Set([...released.map(({ ip }) => ip), ...own]);
}

/** True for an entry of a status that shows an address as the object's own, which was sent to a machine. */
export function wasPlaced({ providerID, previousProviderID, fault }: IPStatus): boolean {
  return (providerID ?? previousProviderID) !== undefined && fault !== "conflict";
}

/** Returns the machines that status has an address at: the one where it is or is sent, then the one it came from. */
export function storedMachines(pool: Pool, ip: string, machineOf: MachineOf): readonly string[] {
  const entry = statusOf(pool, ip);
  return [entry?.providerID, entry?.previousProviderID].flatMap((id) =>
    id === undefined ? [] : (machineOf(id) ?? []),
  );
}

/** Returns for each match with a machine why its firewall keeps every address of the pool from it; undefined for one that may have an address. In the order of the matches. */
export function firewallObstacles({
  matches,
  machineOf,
  firewallObstacle,
}: Pick<PoolView, "matches" | "machineOf" | "firewallObstacle">): readonly (Obstacle | undefined)[] {
  return matches.flatMap(({ name: nodeName, providerID }) => {
    const machineID = machineOf(providerID);
    return machineID === undefined ? [] : [firewallObstacle({ machineID, nodeName })];
  });
}
