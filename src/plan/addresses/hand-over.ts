import { type Address, UNREAD } from "../../model/address.ts";
import type { ProviderFacts } from "../../model/observation.ts";
import type { Obstacle } from "../../model/plan.ts";
import { compareText, ownerKey, ownerText, type Pool } from "../../model/resource.ts";
import { type Drain, drainOf, isJoined, isShownIn, lastServingIn, type ServingNames } from "../drain.ts";
import { obstacle } from "../holds.ts";
import {
  comingMachine,
  type DrainEnd,
  drainEndMs,
  type Free,
  isNotOwn,
  isWritable,
  type MachineOf,
  type PoolView,
  type Released,
  storedDrain,
  storedDrainSeconds,
} from "../pool-view.ts";
import type { Claims } from "./claims.ts";
import type { MachineLedger } from "./machine-ledger.ts";

/*
 * An address that leaves one object and enters another. Clients of the names that show it may still have it: the second one does not take it from a node that serves
 * them until they have not.
 *
 *   handed over   the first object is there: what it knows of the address stays in its `status.released` for as long
 *   inherited     the first object is gone: the second one keeps what is to be known, and until it has the address in its status the name that it leaves
 */

/** What is known of the addresses that an object handed over. */
interface HandOverFacts {
  readonly provider: ProviderFacts | undefined;
  readonly claims: Claims;
  /** Whether clients of the object reach an address where it is. */
  readonly isServing: (address: Address) => boolean;
  readonly machineOf: MachineOf;
}

/**
 * Returns the addresses that were the object's own and that another object manages now. Each still serves clients of this object where it left it, or is on its way there.
 * Sorted by address text. Pure.
 */
export function handedOverBy(
  pool: Pool,
  { provider, claims, isServing, machineOf }: HandOverFacts,
): readonly Released[] {
  const { meta, status } = pool;
  if (meta.isDeleting) return [];
  const key = ownerKey({ kind: pool.kind, ...meta });
  const left = new Map([
    ...status.released.map(({ ip, providerID }) => [ip, providerID] as const),
    ...Object.entries(status.ips).flatMap(([ip, entry]) => (isNotOwn(entry) ? [] : [[ip, entry.providerID] as const])),
  ]);
  return [...left]
    .filter(([ip]) => (claims.ownerOf(ip) ?? key) !== key)
    .toSorted(([a], [b]) => compareText(a, b))
    .flatMap(([ip, providerID]): readonly Released[] => {
      // What cannot be read now is remembered as it was.
      const fact = provider === undefined ? UNREAD : provider.addresses.get(ip);
      if (providerID === undefined || fact === undefined || fact.kind === "gone") return [];
      const isThere = (address: Address): boolean =>
        machineOf(providerID) === address.holderID && (address.isLocked || isServing(address));
      const hasSettled = fact.kind === "known" && comingMachine(pool, fact.address, machineOf) === undefined;
      if (!hasSettled) return [{ ip, fact, isServing: false }];
      return isThere(fact.address) ? [{ ip, fact, isServing: !fact.address.isLocked }] : [];
    });
}

/** Returns the views, each with the objects that handed it addresses. These have their own former owners, too. Pure. */
export function withFormerOwners(views: readonly PoolView[]): readonly PoolView[] {
  const handing = views.flatMap((view) =>
    view.handedOver.flatMap(({ ip, isServing }) => (isServing ? [{ ip, view }] : [])),
  );
  if (handing.length === 0) return views;
  const byIP = Map.groupBy(handing, ({ ip }) => ip);
  const linked = views.map((view) => {
    const keysOf = (ip: string): readonly string[] => (byIP.get(ip) ?? []).map((from) => from.view.key);
    const former = view.managed.flatMap(({ ip }) => {
      const keys = keysOf(ip).filter((key) => key !== view.key);
      return keys.length === 0 ? [] : [{ ip, keys }];
    });
    const formerOwners = new Map<string, readonly PoolView[]>();
    return { former, formerOwners, view: former.length === 0 ? view : { ...view, formerOwners } };
  });
  const byKey = new Map(linked.map(({ view }) => [view.key, view]));
  const ownersOf = (keys: readonly string[]): readonly PoolView[] => keys.flatMap((key) => byKey.get(key) ?? []);
  for (const { former, formerOwners } of linked)
    for (const { ip, keys } of former) formerOwners.set(ip, ownersOf(keys));
  return linked.map(({ view }) => view);
}

/** Returns the views, each with what it inherited: addresses that it never used, and that names show, did until a while ago, or may show as far as is known. Pure. */
export function withInherited(
  views: readonly PoolView[],
  { names, unknown, left }: Pick<ServingNames, "names" | "unknown" | "left">,
): readonly PoolView[] {
  return views.map((view) => {
    const { pool, nowMs, formerOwners } = view;
    const isOut = (ip: string): boolean => isShownIn(names, ip) || (left.get(ip) ?? 0) > nowMs;
    const mayBeOut = ({ isAnnotated }: Free): boolean => isAnnotated === true && unknown !== undefined;
    const inherited = view.managed.flatMap(({ ip, standing }) => {
      if (standing.kind !== "free" || standing.isUnused !== true || formerOwners?.has(ip) === true) return [];
      return isOut(ip) || storedDrain(pool, ip) !== undefined || mayBeOut(standing) ? [ip] : [];
    });
    return inherited.length === 0 ? view : { ...view, inherited: new Set(inherited) };
  });
}

/** True for an address that serves clients of an object which handed it to this one, or left it behind. Pure. */
export function isFromFormer({ formerOwners, inherited }: PoolView, ip: string): boolean {
  return formerOwners?.has(ip) === true || inherited?.has(ip) === true;
}

/** What an address may do that was handed to an object, or inherited by it, and for which a node waits. */
interface HandOver {
  /** Why it does not move yet. Absent = nobody needs it where it is, or it was neither. */
  readonly why?: Obstacle;
  /** True where it leaves its names, or has left them. */
  readonly isLeaving: boolean;
}

/** Returns what an address may do now that came, or comes, from another object. Pure. */
export function handOver(view: PoolView, ip: string, facts: ServingNames, ledger: MachineLedger): HandOver {
  if (!isFromFormer(view, ip)) return { isLeaving: false };
  const [former] = view.formerOwners?.get(ip) ?? [];
  const going = new Set([...ledger.leaving].filter((other) => other !== ip));
  const drain = drainOf(view, ip, facts, going);
  const others = othersFirst(drain);
  if (others !== undefined) return { why: others, isLeaving: true };
  const { untilMs } = drainEnd(view, ip, drain) ?? {};
  if (untilMs !== undefined && untilMs > view.nowMs) {
    const whose = former === undefined ? "another object" : ownerText(former.key);
    const detail = `resolvers may still hand it out for ${whose}, whose it was`;
    return { why: obstacle("Draining", detail, { waitsFor: "turn", notBeforeMs: untilMs }), isLeaving: true };
  }
  const isWaiting = isAwaited(view, former, { ledger, facts, going }) || isJoined(facts, ip, placedBy(view));
  const last = isWaiting ? lastServingIn(ip, facts, going) : undefined;
  const why =
    last === undefined
      ? nameObstacle(view, ip, { drain, facts, ledger })
      : obstacle("LastServing", last, { waitsFor: "turn" });
  return why === undefined ? { isLeaving: true } : { why, isLeaving: false };
}

/** Why an address stays for the sake of a name that shows it, and that cannot be written just now or needs a person. Undefined = for none. */
function nameObstacle(
  view: PoolView,
  ip: string,
  how: { readonly drain: Drain; readonly facts: ServingNames; readonly ledger: MachineLedger },
): Obstacle | undefined {
  const { drain, facts, ledger } = how;
  const settling = drain.kind === "unwritable" ? drain : settlingName(facts, ip);
  if (settling !== undefined) return stillPublished(settling);
  const kept = keptName(view, ip, drain, facts) ?? ledger.nameOf(ip);
  return kept === undefined ? undefined : obstacle("StillPublished", kept, { waitsFor: "turn" });
}

/** The addresses of an object that serve on nodes which match. */
function placedBy({ managed, inUse }: PoolView): readonly { readonly ip: string; readonly nodeName: string }[] {
  return managed.flatMap(({ ip, standing }) =>
    standing.kind === "placed" && standing.unready === undefined && inUse.has(ip)
      ? [{ ip, nodeName: standing.on.nodeName }]
      : [],
  );
}

/** Returns the name that shows an address and waits for nodes which are just changing: it may soon show others beside it. */
function settlingName({ names }: ServingNames, ip: string): Extract<Drain, { kind: "unwritable" }> | undefined {
  const name = names.find(({ addresses, accessAtMs }) => accessAtMs !== undefined && addresses.includes(ip));
  if (name?.accessAtMs === undefined) return undefined;
  return { kind: "unwritable", name: name.fqdn, isUnread: !name.isRead, atMs: name.accessAtMs };
}

/** Returns why an address stays that a name shows which cannot be written just now. */
export function stillPublished({ name, isUnread, atMs }: Extract<Drain, { kind: "unwritable" }>): Obstacle {
  return obstacle("StillPublished", name, { waitsFor: isUnread ? "reading" : "turn", notBeforeMs: atMs });
}

/** Returns why an address stays that only the process of another shard can take out of its name; undefined for any other one. */
export function othersFirst(drain: Drain): Obstacle | undefined {
  if (drain.kind !== "shown" || drain.others === undefined) return undefined;
  return obstacle("OtherShard", `${drain.others} shows it, and is of another shard`, { waitsFor: "shard" });
}

/** True while something else may soon serve the names that show an address, or another one of them is about to leave. */
function isAwaited(view: PoolView, former: PoolView | undefined, plan: PlanSoFar): boolean {
  const { going } = plan;
  if (view.managed.some(({ standing }) => standing.kind === "busy")) return true;
  if (former === undefined) return [...(view.inherited ?? [])].some((other) => isDraining(view, other, going));
  const left = [...former.handedOver, ...former.released];
  return isComing(view, former, plan) || left.some((other) => isDraining(former, other.ip, going));
}

/** True for an address that has left the names of its former object, or of one that is gone, to go to this one. Pure. */
export function hasLeftFormer(view: PoolView, ip: string): boolean {
  const former = view.formerOwners?.get(ip) ?? [];
  return [view, ...former].some(({ pool }) => storedDrain(pool, ip) !== undefined);
}

/**
 * Settles what an object inherited and does not send anywhere yet, once all objects have decided. What names show beside others that serve leaves them, and drains. The
 * last one of a name stays there until something serves instead. Pure.
 *
 * @param leaving - addresses that leave their machines to others
 */
export function settleInherited(view: PoolView, facts: ServingNames, leaving: ReadonlySet<string>): PoolView {
  const drains = new Map(view.drains);
  const staying = new Set(view.staying);
  const going = new Set(leaving);
  for (const ip of view.inherited ?? []) {
    const end = drainEnd(view, ip, drainOf(view, ip, facts, going));
    if (end === undefined && isShownIn(facts.names, ip) && !leaving.has(ip)) staying.add(ip);
    if (end === undefined) continue;
    drains.set(ip, end);
    going.add(ip);
  }
  return { ...view, drains, ...(staying.size === 0 ? {} : { staying }) };
}

/** Until when an address stays that is to leave its names; undefined where it does not leave them now. */
export function drainEnd({ pool, withheld }: PoolView, ip: string, drain: Drain): DrainEnd | undefined {
  const isKept = drain.kind === "shown" && withheld.has(ip);
  const { untilMs } = drain;
  if (isKept || untilMs === undefined) return undefined;
  return { untilMs, ...leavesField(pool, ip, drain) };
}

/** What cannot be written, or read, has left its names no more than it had. */
function leavesField(pool: Pool, ip: string, drain: Drain): Pick<DrainEnd, "forSeconds"> {
  const stored = drain.kind === "unwritable" ? storedDrainSeconds(pool, ip) : undefined;
  const forSeconds = drain.kind === "shown" ? drain.forSeconds : stored;
  return forSeconds === undefined ? {} : { forSeconds };
}

/** Returns the name that an address does not leave in this plan since a person has to approve it. */
function keptName({ withheld }: PoolView, ip: string, drain: Drain, { names }: ServingNames): string | undefined {
  if (drain.kind !== "shown" || !withheld.has(ip)) return undefined;
  return names.find(({ addresses }) => addresses.includes(ip))?.fqdn;
}

/** True for an address that has left the names of the object that handed it over, or leaves them now. */
function isDraining({ pool, nowMs }: PoolView, ip: string, going: ReadonlySet<string>): boolean {
  return going.has(ip) || (drainEndMs(pool, ip, nowMs) ?? 0) > nowMs;
}

/** What is planned before an object has its turn. */
interface PlanSoFar {
  readonly ledger: MachineLedger;
  readonly facts: ServingNames;
  /** Addresses that leave their machines. */
  readonly going: ReadonlySet<string>;
}

/** True while an address of the object is on its way to a machine, or can be sent to one before `next` has the address that the object hands to it. */
function isComing(next: PoolView, view: PoolView, plan: PlanSoFar): boolean {
  const { ledger } = plan;
  if (!isWritable(view)) return false;
  if (ledger.isPromisedTo(view.key)) return true;
  const isFirst = freeInUse(view).some((ip) => !waitsFor(view, ip, new Set([view.key, next.key]), plan));
  return isFirst && view.matches.some(({ providerID }) => hasRoom(view, ledger, view.machineOf(providerID)));
}

/**
 * True for an address that stays on its machine until one of these objects has another one that serves. Example: pools `a` and `b` exchange the only addresses of
 * their names, and each address would wait for the other one. So neither counts as coming, and the pool whose turn is first sends its new address.
 */
function waitsFor(view: PoolView, ip: string, keys: ReadonlySet<string>, plan: PlanSoFar): boolean {
  const [former] = view.formerOwners?.get(ip) ?? [];
  if (former === undefined || plan.ledger.isPromisedTo(former.key)) return false;
  if (lastServingIn(ip, plan.facts, plan.going) === undefined) return false;
  if (keys.has(former.key)) return true;
  const free = freeInUse(former);
  const all = new Set([...keys, former.key]);
  return free.length > 0 && free.every((other) => waitsFor(former, other, all, plan));
}

function freeInUse({ managed, inUse }: PoolView): readonly string[] {
  return managed.flatMap(({ ip, standing }) => (standing.kind === "free" && inUse.has(ip) ? [ip] : []));
}

/** True for a machine that can take an address while all those stay that others use. */
function hasRoom(view: PoolView, ledger: MachineLedger, machine: string | undefined): boolean {
  const room = machine === undefined ? undefined : ledger.availability(machine, view);
  return room?.kind === "free" && room.leaving.every(({ ip, owner }) => !owner.inUse.has(ip));
}
