import type { Place } from "../../model/action.ts";
import { type Address, type AddressFact, isSent, type PendingAcquisition } from "../../model/address.ts";
import { annotatedOn, isAnnotatedOn } from "../../model/annotated.ts";
import type { NodeFacts } from "../../model/node.ts";
import { type IPStatus, ownerKey, type Pool } from "../../model/resource.ts";
import { pastMs } from "../../model/time.ts";
import type { HeldWishes } from "../grants.ts";
import { undecidedText } from "../holds.ts";
import {
  type Free,
  isNotOwn,
  isStaying,
  type MachineOf,
  type ManagedIP,
  type MatchVerdict,
  type NodeByMachine,
  type PoolView,
  type Standing,
  statusOf,
  storedDrain,
  storedMachines,
} from "../pool-view.ts";
import type { Claims } from "./claims.ts";

/** True when an address stays on a machine as things are now: the machine's node matches, is in grace, or cannot be read. */
export function keepsAddress(
  pool: Pool,
  ip: string,
  holder: {
    readonly node: NodeFacts;
    readonly machine: string;
    readonly verdictOf: (node: NodeFacts) => MatchVerdict;
    readonly machineOf: MachineOf;
  },
  nowMs: number,
): boolean {
  const { node, machine, verdictOf, machineOf } = holder;
  const key = ownerKey({ kind: pool.kind, ...pool.meta });
  const fact = { kind: "known", address: { ip, region: "", holderID: machine, isLocked: false } } as const;
  const nodeByMachine = new Map([[machine, node]]);
  const held = { ips: new Map() };
  const claims = { ownerOf: () => key, rightOf: () => "", rivalOf: () => undefined, isRemembered: () => true };
  const isNever = (): boolean => false;
  const context = {
    pool,
    held,
    machineOf,
    key,
    nowMs,
    nodeByMachine,
    machineless: [],
    verdictOf,
    stillServes: isNever,
    isUp: isNever,
    isOutside: isNever,
    selectsNothing: false,
    claims,
  };
  const { kind } = standingOf(ip, fact, context);
  return kind === "placed" || kind === "gap";
}

/** The address as one that stays on its node for now. Pure. */
export function staying(address: ManagedIP, standing: Free): ManagedIP {
  const { machineID, nodeName } = standing.from ?? {};
  if (machineID === undefined || nodeName === undefined) return address;
  return {
    ...address,
    standing: { kind: "placed", on: { machineID, nodeName }, wasActive: false, staying: standing },
  };
}

/** The address as one that stays on its node for now if it serves there. Pure. */
export function servingStays(address: ManagedIP): ManagedIP {
  const { standing } = address;
  return standing.kind === "free" && standing.isServing === true ? staying(address, standing) : address;
}

/**
 * The addresses of an object, without those that are too many on their nodes: these may go, and serve where they are until then. On a node those stay that were active
 * there, in the order of the object. Where the spec says nothing, what somebody put beside others by hand stays, too; what the object has put there itself the node's
 * annotation shows, or its own status while it drains. Pure.
 */
export function withoutExcess(
  managed: readonly ManagedIP[],
  how: {
    readonly pool: Pool;
    readonly maxPerNode: number;
    readonly isForSeveral?: true;
    readonly nodeByMachine: NodeByMachine;
  },
): readonly ManagedIP[] {
  const { pool, maxPerNode, isForSeveral, nodeByMachine } = how;
  if (pool.kind === "routedip" || pool.meta.isDeleting) return managed;
  const key = ownerKey({ kind: pool.kind, ...pool.meta });
  const isCounted = (ip: string, node: NodeFacts | undefined): boolean =>
    isForSeveral === true ||
    storedDrain(pool, ip) !== undefined ||
    (node !== undefined && isAnnotatedOn(node, ip, key));
  const placed = managed.flatMap(({ ip, standing }) => {
    if (standing.kind !== "placed" || standing.unready !== undefined || standing.staying !== undefined) return [];
    return isCounted(ip, nodeByMachine.get(standing.on.machineID)) ? [{ ip, ...standing }] : [];
  });
  const byMachine = Map.groupBy(placed, ({ on }) => on.machineID);
  const excess = new Set(
    [...byMachine.values()].flatMap((own) =>
      own
        .toSorted((a, b) => Number(b.wasActive) - Number(a.wasActive))
        .slice(maxPerNode)
        .map(({ ip }) => ip),
    ),
  );
  if (excess.size === 0) return managed;
  return managed.map((address) => {
    const { ip, standing } = address;
    if (standing.kind !== "placed" || !excess.has(ip)) return address;
    return { ...address, standing: { kind: "free", from: standing.on, rank: "excess", isServing: true } };
  });
}

/** What the standing of an address depends on. */
interface StandingContext {
  readonly pool: Pool;
  readonly held: Pick<HeldWishes, "ips" | "takeOver">;
  readonly machineOf: MachineOf;
  /** The API server's clock when the nodes had been listed, milliseconds. */
  readonly nowMs: number;
  readonly nodeByMachine: NodeByMachine;
  /** Nodes whose machine cannot be read. */
  readonly machineless: readonly NodeFacts[];
  readonly verdictOf: (node: NodeFacts) => MatchVerdict;
  /** Whether clients reach what runs on a node, whatever its labels and taints say. */
  readonly stillServes: (node: NodeFacts) => boolean;
  /** Whether a node is up, whoever asks. */
  readonly isUp: (node: NodeFacts) => boolean;
  /** Whether the object never wants a node, as long as its labels are as they are. */
  readonly isOutside: (node: NodeFacts) => boolean;
  /** True while the pool's selectors select nothing: then what serves stays wherever it is. */
  readonly selectsNothing: boolean;
  readonly claims: Pick<Claims, "ownerOf" | "rightOf" | "rivalOf" | "isRemembered">;
  readonly key: string;
}

type KnownAddress = Extract<AddressFact, { readonly kind: "known" }>;

/** The standing of one address of a pool. Pure. */
export function standingOf(ip: string, fact: AddressFact, context: StandingContext): Standing {
  const ungranted = context.held.ips.get(ip);
  if (ungranted !== undefined) return { kind: "ungranted", why: ungranted };
  const { claims, key, pool } = context;
  const owner = claims.ownerOf(ip) ?? key;
  if (owner !== key) return { kind: "conflict", owner, right: claims.rightOf(ip, pool) };
  const rival = claims.rivalOf(ip);
  if (rival !== undefined) {
    const right = `whose ${rival.ip} is of the same network ${rival.network}: the provider moves both together`;
    return { kind: "conflict", owner: rival.owner, right };
  }
  switch (fact.kind) {
    case "gap":
      return { kind: "gap", error: fact.error };
    case "gone":
      return { kind: "gone" };
    case "known":
      return knownStanding(fact, context);
  }
}

function knownStanding({ address, isRefused }: KnownAddress, context: StandingContext): Standing {
  const holder = holderOf(address, context);
  if (address.isBlocked) return { kind: "blocked", on: holder };
  const node = context.nodeByMachine.get(holder?.machineID ?? "");
  if (address.isLocked) return busyStanding(address, { holder, node, isRefused: isRefused === true }, context);
  if (holder === undefined) return { kind: "free", from: undefined, rank: "unassigned" };
  if (node !== undefined) return onNode(address.ip, node, holder.machineID, context);
  const hidden = hiddenNode(address.ip, holder.machineID, context);
  if (hidden !== undefined) return onNode(address.ip, hidden, holder.machineID, context);
  if (isFormerNode(address.ip, holder.machineID, context)) {
    const isNew = hasNotServed(address.ip, holder.machineID, undefined, context);
    return { kind: "free", from: holder, rank: "node-gone", ...(isNew ? { isNew } : {}) };
  }
  return context.pool.spec.foreignHolder === "TakeOver" && context.held.takeOver === undefined
    ? { kind: "free", from: holder, rank: "foreign" }
    : { kind: "foreign", holder };
}

/** The standing of an address that the provider is working on. */
function busyStanding(
  address: Address,
  at: { readonly holder: Place | undefined; readonly node: NodeFacts | undefined; readonly isRefused: boolean },
  context: StandingContext,
): Standing {
  const { holder, node, isRefused } = at;
  const isOurs = holder === undefined || node !== undefined || isFormerNode(address.ip, holder.machineID, context);
  return {
    kind: "busy",
    holder,
    isForeign: !isOurs,
    ...(isLost(address, isRefused, context) ? { isLost: true } : {}),
    ...(node !== undefined && context.isOutside(node) ? { isStranded: true } : {}),
  };
}

/**
 * True for an address that the provider is working on where neither the node of the machine that has it serves, nor that of the machine that the object has sent it to. While the
 * provider refuses to send it there, only the node counts that the object wants it to leave.
 */
function isLost({ ip, holderID }: Address, isRefused: boolean, context: StandingContext): boolean {
  const { pool, machineOf, nodeByMachine, machineless } = context;
  const entry = statusOf(pool, ip);
  const target = isSent(entry) && !isRefused ? machineOf(entry?.providerID ?? "") : undefined;
  const machines = [holderID, target].flatMap((machine) => machine ?? []);
  const serves = (machine: string): boolean => {
    const node = nodeByMachine.get(machine);
    if (node === undefined) return machineless.length > 0 || !isFormerNode(ip, machine, context);
    const standing = onNode(ip, node, machine, context);
    return standing.kind !== "free" || standing.isServing === true || (!isRefused && context.isUp(node));
  };
  return (isRefused || machines.length > 0) && !machines.some(serves);
}

/** Where an address is; with the node's name when the machine is a node of this cluster. */
function holderOf(address: Address, context: StandingContext): Place | undefined {
  if (address.holderID === undefined) return undefined;
  const node = context.nodeByMachine.get(address.holderID);
  return node === undefined ? { machineID: address.holderID } : { machineID: address.holderID, nodeName: node.name };
}

/** Returns a node that this machine may be, among those whose machine cannot be read: the node that status names for the address, or any if status names none. */
function hiddenNode(
  ip: string,
  machine: string,
  { pool, machineless, machineOf }: StandingContext,
): NodeFacts | undefined {
  const entry = statusOf(pool, ip);
  const nodeName = isAt(entry, machine, machineOf) ? entry?.nodeName : undefined;
  return machineless.find(({ name }) => nodeName === undefined || name === nodeName);
}

function onNode(ip: string, node: NodeFacts, machine: string, context: StandingContext): Standing {
  const verdict = context.verdictOf(node);
  if (verdict.kind === "unreadable") return { kind: "gap", error: undecidedText(node, verdict.detail) };
  const on = { machineID: machine, nodeName: node.name };
  const wasActive = wasActiveOn(ip, node, machine, context);
  if (verdict.kind === "match") return { kind: "placed", on, wasActive };
  const entry = statusOf(context.pool, ip);
  const isKnownHere = isAt(entry, machine, context.machineOf);
  const storedMs = isKnownHere ? pastMs(entry?.notMatchingSince, context.nowMs) : undefined;
  const evidenceMs = verdict.kind === "unready" ? verdict.sinceMs : undefined;
  const sinceMs = Math.min(storedMs ?? context.nowMs, evidenceMs ?? context.nowMs, context.nowMs);
  const graceUntilMs = sinceMs + context.pool.spec.gracePeriodSeconds * 1000;
  if (verdict.kind === "unready" && wasActive && graceUntilMs > context.nowMs) {
    return { kind: "placed", on, wasActive, unready: { sinceMs, graceUntilMs } };
  }
  const use = usedBy(ip, node, machine, context);
  const isStranded = use.isServing !== true && context.isOutside(node);
  return { kind: "free", from: on, rank: "not-matching", sinceMs, ...use, ...(isStranded ? { isStranded } : {}) };
}

/** Whom an address may serve on a node that does not match. */
function usedBy(
  ip: string,
  node: NodeFacts,
  machine: string,
  context: StandingContext,
): Pick<Free, "isServing" | "isNew" | "isUnused" | "isAnnotated"> {
  if (context.stillServes(node) && isInService(ip, node, machine, context)) return { isServing: true };
  if (!hasNotServed(ip, machine, node, context)) return {};
  if (!context.isUp(node) || context.claims.isRemembered(ip, context.key)) return { isNew: true };
  const isAnnotated = annotatedOn(node).some((shown) => shown.ip === ip && shown.owner !== undefined);
  return { isNew: true, isUnused: true, ...(isAnnotated ? { isAnnotated } : {}) };
}

/**
 * True if the object itself has clients served by the address on the node, or is just withdrawing it from there: by status, by the node's annotation, or by its name. Where somebody
 * put the address on the node by hand, that is so only while the object selects nothing: else it goes back at once. What is on record to go elsewhere has not left
 * while the node shows it.
 */
function isInService(ip: string, node: NodeFacts, machine: string, context: StandingContext): boolean {
  const { pool, key, machineOf } = context;
  const entry = statusOf(pool, ip);
  if (pool.meta.isDeleting || entry?.inherited === true) return false;
  const isAnnotated = isAnnotatedOn(node, ip, key);
  const hasStayed = entry?.state === "in-progress" && isAnnotated;
  const isKnownHere = context.selectsNothing || entry === undefined || hasStayed || isAt(entry, machine, machineOf);
  const isPublished = pool.status.publishedDNS?.addresses.includes(ip) === true;
  return (
    isKnownHere && (entry?.state === "active" || storedDrain(pool, ip) !== undefined || isAnnotated || isPublished)
  );
}

/** True for an address that the object never used on its machine, by status and by the annotation of the machine's node, where there is one. */
function hasNotServed(ip: string, machine: string, node: NodeFacts | undefined, context: StandingContext): boolean {
  const { pool, key, machineOf } = context;
  const isAnnotated = node !== undefined && isAnnotatedOn(node, ip, key);
  const isReleased = pool.status.released.some((released) => released.ip === ip);
  if (pool.meta.isDeleting || isAnnotated || isReleased) return false;
  const entry = statusOf(pool, ip);
  return entry === undefined || isNotOwn(entry) || (entry.inherited === true && isAt(entry, machine, machineOf));
}

/** True if the address served on the node: status says so, or the node's annotation if there is no status. */
function wasActiveOn(ip: string, node: NodeFacts, machine: string, { pool, key, machineOf }: StandingContext): boolean {
  const entry = statusOf(pool, ip);
  if (entry === undefined) return isAnnotatedOn(node, ip, key);
  return entry.state === "active" && isAt(entry, machine, machineOf);
}

function isAt(entry: IPStatus | undefined, machine: string, machineOf: MachineOf): boolean {
  return entry?.providerID !== undefined && machineOf(entry.providerID) === machine;
}

/** True when the address may be the one that was asked for this machine, whose answer was lost. */
function isAskedFor(intent: PendingAcquisition, ip: string, machine: string, machineOf: MachineOf): boolean {
  if (intent.providerID === undefined || intent.knownIPs.includes(ip)) return false;
  return machineOf(intent.providerID) === machine;
}

/** True when status shows that this machine held the address as a node of the cluster. */
function isFormerNode(ip: string, machine: string, { pool, machineOf }: StandingContext): boolean {
  if (storedMachines(pool, ip, machineOf).includes(machine)) return true;
  if (pool.status.pendingAcquisitions.some((intent) => isAskedFor(intent, ip, machine, machineOf))) return true;
  return pool.status.released.some(
    (released) => released.ip === ip && released.providerID !== undefined && machineOf(released.providerID) === machine,
  );
}

/**
 * Returns why a node no longer carries an address, and where that is now, where somebody has moved it by hand from the node, on which it was active. On a node that matches it may as
 * well have been sent there by a pass whose status was lost. Pure.
 */
export function movedByHand(
  { pool, managed }: PoolView,
  ip: string,
  { name }: NodeFacts,
): { readonly reason: "AnnotationDrift"; readonly holder: Place } | undefined {
  const address = managed.find((one) => one.ip === ip);
  const entry = statusOf(pool, ip);
  if (address?.standing.kind !== "placed" || !isStaying(address)) return undefined;
  const { on } = address.standing;
  const isMoved = entry?.state === "active" && entry.nodeName === name && on.nodeName !== name;
  return isMoved ? { reason: "AnnotationDrift", holder: on } : undefined;
}
