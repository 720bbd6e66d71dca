import { type AcquireIP, type AssignIP, type Place, targetPlace } from "../../model/action.ts";
import { changesAddress } from "../../model/action-kinds.ts";
import { REFUSAL_REASONS } from "../../model/fault-reason.ts";
import {
  FIREWALL_LABEL,
  FIREWALL_PATIENCE_MS,
  type Firewall,
  type FirewallFact,
  type FirewallFacts,
  type FirewallLimits,
  letsIn,
  type PendingFirewall,
  type PortRange,
  portText,
  progressAt,
  type ServedPorts,
} from "../../model/firewall.ts";
import type { ProviderRegistry } from "../../model/provider.ts";
import type { Reason } from "../../model/reason.ts";
import { ipFamilyOf, type Pool } from "../../model/resource.ts";
import { firewallPortsSubject, firewallSubject } from "../../model/retry-subject.ts";
import { timestamp } from "../../model/time.ts";
import type { HeldFirewall } from "../grants.ts";
import {
  countedIPs,
  isWritable,
  type ManagedIP,
  type PoolView,
  type Standing,
  storedMachines,
  wasPlaced,
} from "../pool-view.ts";
import { Retries } from "../retries.ts";

/** The firewall an object wants to keep in step, as far as it was read. */
export type FirewallTarget =
  | { readonly kind: "none" }
  | BlockedFirewall
  | {
      readonly kind: "ready";
      readonly fact: Extract<FirewallFact, { kind: "known" }>;
      /** Ports that are to be opened yet. */
      readonly missing: readonly PortRange[];
      readonly limits: FirewallLimits;
      /** Set while missing ports wait: their last attempt failed, there is no room for so many rules, or the firewall is not granted. */
      readonly portsWait?: BlockedFirewall;
      /** Set while no machine is added: the last attempt failed, or the firewall is not granted. */
      readonly machinesWait?: BlockedFirewall;
      /** True for an object that has served, some ports of which are open: what is missing keeps its address from no other machine. */
      readonly isOpenInPart: boolean;
      /** Set where it is not granted, and something of it is on record: why the ports that are not stay closed. */
      readonly withheld?: BlockedFirewall;
      /** True where it is not granted, nothing of it is on record, and the object has served: its address moves, whatever the firewall. */
      readonly isPassedBy: boolean;
      /** Every change that the provider has not carried out, with the time since when it is seen: that of the status, else now. */
      readonly pending: readonly PendingFirewall[];
      readonly nowMs: number;
    };

/** Why nothing can be done at a firewall, nor for an address that needs it. */
export interface BlockedFirewall {
  readonly kind: "blocked";
  readonly reason: Reason;
  readonly detail: string;
  readonly needsPerson: boolean;
  readonly notBeforeMs?: number;
  /** Set where the last change failed, and its next attempt is not due. */
  readonly waitsFor?: "retry";
  /** Set where the provider refused to be read: nothing is known of the firewall. */
  readonly isUnread?: true;
  /** Set where the account has no such firewall: nothing is tried there any more. */
  readonly isGone?: true;
  /** What a person can do, where the reason does not know. */
  readonly advice?: string;
}

/** What all targets of a pass share. */
export interface FirewallContext {
  readonly firewalls: ReadonlyMap<string, FirewallFacts>;
  /** Firewall id → the {@link portText} of rules that flipop made, for whatever object. */
  readonly made: ReadonlyMap<string, ReadonlySet<string>>;
  readonly nowMs: number;
  readonly registry: ProviderRegistry;
  /** Set where the firewall is not granted. */
  readonly held?: HeldFirewall | undefined;
}

/** Finds the firewall of an object and what it lacks. Pure. */
export function firewallTarget(pool: Pool, context: FirewallContext): FirewallTarget {
  const wish = pool.firewall;
  if (wish === undefined) return { kind: "none" };
  const traits = context.registry.get(wish.provider);
  if (traits !== undefined && traits.firewalls === undefined)
    return blocked("FirewallUnchangeable", wish.provider, true);
  const facts = context.firewalls.get(wish.provider);
  if (facts === undefined) return blocked("Unreadable", `firewall ${wish.firewall} was not read`, false);
  const { unusable } = facts;
  if (unusable !== undefined) {
    const refused = blocked(REFUSAL_REASONS[unusable.kind], unusable.message, unusable.kind === "no-access");
    const why = { ...refused, isUnread: true } as const;
    return unusable.notBeforeMs === undefined ? why : { ...why, notBeforeMs: unusable.notBeforeMs };
  }
  const fact = facts.firewalls.get(wish.firewall);
  if (fact?.kind !== "known") return unknown(wish.firewall, fact);
  const { firewall } = fact;
  const reserved = traits?.firewalls?.reservedPrefix;
  if (reserved !== undefined && firewall.name.startsWith(reserved))
    return blocked("FirewallReserved", firewall.name, true);
  if (firewall.isUnlabelled === true)
    return blocked("FirewallNotOwned", `${firewall.name} has no label ${FIREWALL_LABEL}=true`, true);
  const family = ipFamilyOf(pool.spec);
  const closed = wish.ports.filter((ports) => !isOpen({ ports, family }, fact, context.made.get(firewall.id)));
  return { kind: "ready", fact, limits: facts.limits, ...changesOf(pool, firewall, facts.limits, { closed, context }) };
}

/** Firewall id → the ports that flipop opened there, for whatever object, as its status has them. Pure. */
export function madeRules(pools: readonly Pool[]): ReadonlyMap<string, ReadonlySet<string>> {
  const made = new Map<string, Set<string>>();
  for (const { id, ports } of pools.flatMap(({ status }) => status.firewalls ?? []))
    made.set(id, new Set([...(made.get(id) ?? []), ...ports]));
  return made;
}

/** What may be changed at a firewall, and what waits. */
function changesOf(
  pool: Pool,
  firewall: Firewall,
  limits: FirewallLimits,
  { closed, context: { held, nowMs } }: { readonly closed: readonly PortRange[]; readonly context: FirewallContext },
): Omit<ReadyTarget, "kind" | "fact" | "limits"> {
  const missing = closed.filter((ports) => held?.ports?.has(portText(ports)) !== false);
  const isServed = Object.values(pool.status.ips).some(wasPlaced);
  const isOpenInPart = isServed && closed.length < (pool.firewall?.ports.length ?? 0);
  const common = { missing, isOpenInPart, pending: pendingOf(pool, firewall, nowMs), nowMs };
  if (held !== undefined && held.ports === undefined) {
    const why = ungranted(held);
    return { ...common, isPassedBy: isServed, portsWait: why, machinesWait: why };
  }
  const { id, ruleCount } = firewall;
  const isFull = missing.length > 0 && ruleCount + missing.length > limits.rules;
  const full = isFull ? rulesFull(ruleCount, missing.length, limits) : undefined;
  const portsWait = full ?? backoff(pool, firewallPortsSubject(id), nowMs);
  const machinesWait = backoff(pool, firewallSubject(id), nowMs);
  return {
    ...common,
    isPassedBy: false,
    ...(portsWait === undefined ? {} : { portsWait }),
    ...(machinesWait === undefined ? {} : { machinesWait }),
    ...(held !== undefined && closed.length > missing.length ? { withheld: ungranted(held) } : {}),
  };
}

function ungranted({ why: { reason, detail, needsPerson, advice } }: HeldFirewall): BlockedFirewall {
  return { kind: "blocked", reason, detail, needsPerson, ...(advice === undefined ? {} : { advice }) };
}

function pendingOf({ status }: Pool, firewall: Firewall, nowMs: number): readonly PendingFirewall[] {
  const { id, name, isWaiting, pendingMachineIDs } = firewall;
  const sinceOf = (machineID: string | undefined): string => {
    const stored = status.pendingFirewalls?.find((entry) => entry.id === id && entry.machineID === machineID)?.since;
    return stored !== undefined && Date.parse(stored) <= nowMs ? stored : timestamp(nowMs);
  };
  return [
    ...(isWaiting ? [{ id, name, since: sinceOf(undefined) }] : []),
    ...pendingMachineIDs.map((machineID) => ({ id, name, machineID, since: sinceOf(machineID) })),
  ];
}

/** True for an object with something on record at a firewall that is being read at this moment. Pure. */
export function isFirewallAwaited({ status }: Pool, facts: FirewallContext["firewalls"]): boolean {
  return status.firewalls?.some(({ provider }) => facts.get(provider)?.unusable?.isAwaited === true) ?? false;
}

/**
 * Returns why an address of the object may not go to a machine; undefined when it may, at once or after changes that this pass can make. Pure.
 *
 * @param isDown - true for an object that has served and serves nobody now: a firewall at which nothing can be done before a person has acted keeps its address from no
 *   machine, since where it is it serves nobody in any case
 */
export function firewallObstacle(target: FirewallTarget, place: Place, isDown: boolean): BlockedFirewall | undefined {
  if (target.kind === "none") return undefined;
  if (target.kind === "blocked") return isDown && target.needsPerson && target.isUnread !== true ? undefined : target;
  return obstacleAt(target, place);
}

/**
 * Returns why an address of the object could serve nowhere before a person has acted at its firewall, whatever its nodes do; undefined where one may, or where nobody knows. One
 * that is bought meanwhile would be of no use. Pure.
 */
export function firewallDeadEnd(target: FirewallTarget): BlockedFirewall | undefined {
  if (target.kind === "none") return undefined;
  if (target.kind === "blocked") return target.needsPerson && target.isUnread !== true ? target : undefined;
  const { portsWait, fact } = target;
  // A machine that no firewall covers needs no ports.
  const isPlain = fact.firewall.othersAt === undefined;
  const isForPerson = portsWait?.needsPerson === true && portsWait.waitsFor !== "retry";
  return isPlain && isForPerson && needsPorts(target) ? portsWait : undefined;
}

function obstacleAt(target: ReadyTarget, place: Place): BlockedFirewall | undefined {
  if (isUncovered(target, place.machineID)) return undefined;
  const unfinished = unfinishedAt(target, place);
  if (unfinished !== undefined) return unfinished;
  if (target.isPassedBy) return undefined;
  const { portsWait, machinesWait } = target;
  if (portsWait !== undefined && needsPorts(target)) return portsWait;
  if (isBehind(target.fact, place.machineID)) return undefined;
  if (machinesWait !== undefined) return machinesWait;
  return target.fact.firewall.machineIDs.length < target.limits.machines
    ? joiningObstacle(target.fact.firewall, target.limits, place)
    : machinesFull(target);
}

/** True where an address must not go to a machine before the missing ports are open: its object never served without them. Pure. */
export function needsPorts({ missing, isOpenInPart, isPassedBy }: ReadyTarget): boolean {
  return missing.length > 0 && !isOpenInPart && !isPassedBy;
}

/**
 * True for a machine that is behind no firewall: everything is open there, and the first firewall would close all that it does not open. So an address may go
 * there, and the machine is not put behind its firewall. Pure.
 */
export function isUncovered({ fact }: ReadyTarget, machineID: string): boolean {
  const others = fact.firewall.othersAt?.get(machineID);
  return others !== undefined && others.inForce + others.pending === 0 && !isBehind(fact, machineID);
}

/** Returns why a machine that other firewalls cover cannot be put behind this one; undefined when it can. Only what another firewall lets in now stays as it is: so that one must be in force. Pure. */
export function joiningObstacle(
  { othersAt, limitsOutgoing, name }: Firewall,
  { perMachine: most = Number.POSITIVE_INFINITY }: FirewallLimits,
  place: Place,
): BlockedFirewall | undefined {
  if (othersAt === undefined) return undefined;
  const where = machineText(place);
  const others = othersAt.get(place.machineID);
  if (others === undefined) return blocked("Unreadable", `${where}: the provider lists no such machine`, false);
  if (others.inForce === 0) return blocked("InProgress", `${where}: no other firewall is in force there yet`, false);
  if (limitsOutgoing === true)
    return blocked(
      "FirewallNotOwned",
      `${name} has rules for outgoing traffic: ${where} could lose what it can send now`,
      true,
    );
  const sum = others.inForce + others.pending;
  return sum < most ? undefined : blocked("FirewallFull", `${where} is behind ${sum} of ${most} firewalls`, true);
}

/** True for a machine that must not be taken from a firewall: no other one is in force there, and everything would be open. Pure. */
export function isLastFirewall({ othersAt }: Firewall, machineID: string): boolean {
  return othersAt !== undefined && othersAt.get(machineID)?.inForce === 0;
}

function machineText({ machineID, nodeName }: Place): string {
  return nodeName === undefined ? `machine ${machineID}` : `node ${nodeName} (machine ${machineID})`;
}

/** A firewall that could be read. */
export type ReadyTarget = Extract<FirewallTarget, { kind: "ready" }>;

/**
 * Returns what of a firewall the provider has not carried out at a machine; undefined when nothing is left there. A change that
 * is pending for five minutes, or was given up, asks for a person. Exception: where flipop has to change something for the
 * machine anyway, that change tries again what was given up. Pure.
 */
export function unfinishedAt(target: FirewallTarget, place: Place): BlockedFirewall | undefined {
  if (target.kind !== "ready") return undefined;
  const { machineID } = place;
  if (isUncovered(target, machineID)) return undefined;
  const where = `firewall ${target.fact.firewall.name}, ${machineText(place)}`;
  switch (progressAt(target.fact.firewall, machineID)) {
    case "in-force":
      return undefined;
    case "failed":
      return isLetIn(target, machineID) ? blocked("FirewallFailed", where, true) : undefined;
    case "pending":
      return stillPending(target, machineID, where);
  }
}

function stillPending(
  { fact, pending, nowMs }: ReadyTarget,
  machineID: string,
  where: string,
): BlockedFirewall | undefined {
  const found =
    pending.find((one) => one.machineID === machineID) ?? pending.find((one) => one.machineID === undefined);
  if (found === undefined) return undefined;
  const isWhole = found.machineID === undefined;
  const detail = `${isWhole ? `firewall ${fact.firewall.name}` : where}, since ${found.since}`;
  const isStuck = nowMs - Date.parse(found.since) >= FIREWALL_PATIENCE_MS;
  return blocked(isStuck ? "FirewallStuck" : "InProgress", detail, isStuck);
}

/** Says that a firewall has no room for so many more rules, and what can be done. Pure. */
export function rulesFull(ruleCount: number, more: number, limits: FirewallLimits): BlockedFirewall {
  const detail = `${ruleCount} of ${limits.rules} rules; ${more} more ${more === 1 ? "is" : "are"} needed: let Services share ports, or name another firewall`;
  return blocked("FirewallFull", detail, true);
}

/** Says that no more machines can be put behind a firewall one by one, and what can be done. Pure. */
export function machinesFull({ fact, limits }: ReadyTarget): BlockedFirewall {
  const { machineIDs, tags } = fact.firewall;
  const way = tags.length === 0 ? "give it a tag that the nodes have" : `give the nodes its tag ${tags.join(" or ")}`;
  return blocked("FirewallFull", `${machineIDs.length} of ${limits.machines} machines; ${way}`, true);
}

/** True when the firewall of an object shows that everything may come in at that machine, or no firewall covers it; {@link unfinishedAt} tells whether it is in force there. Pure. */
export function isLetIn(target: FirewallTarget, machineID: string): boolean {
  if (target.kind === "none") return true;
  if (target.kind !== "ready") return false;
  return isUncovered(target, machineID) || (target.missing.length === 0 && isBehind(target.fact, machineID));
}

/** True for a machine that the firewall covers, by itself or by a tag. Pure. */
export function isBehind(fact: Extract<FirewallFact, { kind: "known" }>, machineID: string): boolean {
  return fact.firewall.machineIDs.includes(machineID) || fact.taggedMachineIDs.has(machineID);
}

/** How many machines a firewall covers that are no nodes of this cluster, as an action tells of them; empty for none. Pure. */
export function otherMachines(
  { firewall, taggedMachineIDs }: Extract<FirewallFact, { kind: "known" }>,
  placeOf: (machineID: string) => Place,
): { readonly otherMachines?: number } {
  const covered = new Set([...firewall.machineIDs, ...taggedMachineIDs]);
  const others = [...covered].filter((machine) => placeOf(machine).nodeName === undefined).length;
  return others === 0 ? {} : { otherMachines: others };
}

function backoff({ status }: Pool, subject: string, nowMs: number): BlockedFirewall | undefined {
  const why = new Retries(status.retries, nowMs).obstacle(subject);
  return why === undefined ? undefined : { kind: "blocked", ...why, waitsFor: "retry" };
}

/** Open to the object's family, by the very rule or by a wider one of somebody else: what flipop made for another object may go with that. */
function isOpen(
  served: ServedPorts,
  { firewall }: Extract<FirewallFact, { kind: "known" }>,
  made: ReadonlySet<string> | undefined,
): boolean {
  return firewall.rules.some(
    (rule) =>
      letsIn(rule, served) &&
      (portText(rule.ports) === portText(served.ports) || made?.has(portText(rule.ports)) !== true),
  );
}

function unknown(wanted: string, fact: Exclude<FirewallFact, { kind: "known" }> | undefined): BlockedFirewall {
  switch (fact?.kind) {
    case "gone":
      return { ...blocked("FirewallNotFound", wanted, true), isGone: true };
    case "ambiguous":
      return blocked("FirewallAmbiguous", `${wanted}: ${fact.ids.join(", ")}`, true);
    default:
      return blocked("Unreadable", fact?.error ?? `firewall ${wanted} was not read`, false);
  }
}

function blocked(reason: Reason, detail: string, needsPerson: boolean): BlockedFirewall {
  return { kind: "blocked", reason, detail, needsPerson };
}

/** What an object needs of one firewall: nothing of it may be taken away, whoever put it there. */
export interface FirewallNeeds {
  readonly ports: ReadonlySet<string>;
  /** Machines that must be behind it, as their address is there or is just sent there. */
  readonly wanted: ReadonlySet<string>;
  /** Those, and machines where an address of the object may be for all that is known. */
  readonly machines: ReadonlySet<string>;
  /** Matching machines that a change is pending for, or that were put behind it for an attempt, while the address serves nowhere: one of them may have it next. */
  readonly coming: ReadonlySet<string>;
}

/** What sends an address to a machine. */
export type Sending = AssignIP | AcquireIP;

/** The machine an action sends an address to; undefined for an address that is bought for none. Pure. */
export function destinationOf(action: Sending): string | undefined {
  return targetPlace(action)?.machineID;
}

/**
 * What an object needs of its present firewall, once what is planned for it is done. Pure.
 * @param shown - addresses that DNS shows: clients come for them, so their machines stay until DNS is written
 * @param left - where the addresses of deleted objects are, by {@link leftBehind}: whoever names one, too, has it next
 */
export function presentNeeds(
  view: PoolView,
  sending: readonly Sending[],
  shown: ReadonlySet<string>,
  left: ReadonlyMap<string, readonly string[]>,
): FirewallNeeds {
  const nothing = new Set<string>();
  if (view.pool.meta.isDeleting) return { ports: nothing, wanted: nothing, machines: nothing, coming: nothing };
  const sent = new Set(sending.flatMap((action) => (changesAddress(action) ? [action.ip] : [])));
  const destinations = sending.flatMap((action) => destinationOf(action) ?? []);
  const staying = view.managed.filter(({ ip }) => view.inUse.has(ip) && !sent.has(ip));
  const placed = staying.flatMap(({ standing }) => (standing.kind === "placed" ? seenAt(standing) : []));
  const inherited = view.managed.flatMap(({ ip, standing }) =>
    standing.kind === "conflict" ? (left.get(ip) ?? []) : [],
  );
  const maybe = staying.flatMap((address) => machinesOf(view, address));
  const asked = view.pool.status.pendingAcquisitions.flatMap(({ providerID = "" }) => view.machineOf(providerID) ?? []);
  const wanted = new Set([...destinations, ...placed]);
  const unused = view.managed.filter(({ ip }) => !view.inUse.has(ip) && shown.has(ip));
  const published = [
    ...unused.flatMap(({ standing }) => seenAt(standing)),
    ...[...view.released, ...view.handedOver].flatMap(({ ip, fact }) =>
      shown.has(ip) && fact.kind === "known" ? (fact.address.holderID ?? []) : [],
    ),
  ];
  return {
    ports: new Set((view.pool.firewall?.ports ?? []).map(portText)),
    wanted,
    machines: new Set([...wanted, ...maybe, ...asked, ...published, ...inherited]),
    coming: wanted.size === 0 ? new Set(comingMatches(view)) : nothing,
  };
}

/** The machines where addresses of deleted objects are, or may be, by address. Pure. */
export function leftBehind(views: readonly PoolView[]): ReadonlyMap<string, readonly string[]> {
  const deleted = views.filter(({ pool }) => pool.meta.isDeleting);
  return new Map(
    deleted.flatMap(({ managed }) =>
      managed
        .filter(({ standing }) => standing.kind !== "conflict" && standing.kind !== "ungranted")
        .map(({ ip, standing }) => [ip, seenAt(standing)] as const),
    ),
  );
}

/**
 * A machine whose attempt failed stays behind the firewall until the next attempt: to take it out and put it back each time would change what it lets in every few minutes. It also
 * stays while nobody can tell whether an address is bought for it, or was.
 */
function comingMatches(view: PoolView): readonly string[] {
  const { firewall, matches, machineOf, pool } = view;
  if (firewall.kind !== "ready") return [];
  const { firewall: current } = firewall.fact;
  const isAwaited = pool.status.retries.length > 0 || isPurchaseOpen(view);
  const recorded = isAwaited ? (pool.status.firewalls?.find(({ id }) => id === current.id)?.machineIDs ?? []) : [];
  const machines = matches.flatMap(({ providerID }) => machineOf(providerID) ?? []);
  return machines.filter((machine) => recorded.includes(machine) || progressAt(current, machine) !== "in-force");
}

/** True for an object that lacks an address while it cannot be read which ones the account has, or how many it may have. */
function isPurchaseOpen(view: PoolView): boolean {
  const { pending, desired, provider } = view;
  if (provider?.isComplete === true && provider.isLimitAwaited !== true) return false;
  return desired > countedIPs(view) || pending.some(({ kind }) => kind === "waiting");
}

/**
 * Everything an object added to a firewall stays while nothing can be decided for it: it cannot be worked on, or its present firewall is not known; and for ever when
 * it is deleted with `Retain`. Pure.
 */
export function mayLetGo(view: PoolView): boolean {
  const { meta, spec } = view.pool;
  if (meta.isDeleting) return isWritable(view) && spec.reclaimPolicy === "Delete";
  return isWritable(view) && view.firewall.kind !== "blocked";
}

/** The machines where an address is, or may be for all that is known. Pure. */
export function machinesOf(view: PoolView, { ip, standing }: ManagedIP): readonly string[] {
  return [...seenAt(standing), ...rememberedAt(view, ip, standing)];
}

function seenAt(standing: Standing): readonly string[] {
  switch (standing.kind) {
    case "placed":
      return [standing.on.machineID];
    case "free":
      return standing.from === undefined ? [] : [standing.from.machineID];
    case "busy":
      return standing.holder === undefined ? [] : [standing.holder.machineID];
    case "foreign":
      return [standing.holder.machineID];
    default:
      return [];
  }
}

/** Where status has an address that is on its way, or cannot be looked at. */
function rememberedAt(view: PoolView, ip: string, standing: Standing): readonly string[] {
  return standing.kind === "busy" || standing.kind === "gap" ? storedMachines(view.pool, ip, view.machineOf) : [];
}
