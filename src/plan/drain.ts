import { type ObjectRef, ownPart, refKey, type WriteDNS } from "../model/action.ts";
import { addressesWithout, meantSeconds } from "../model/dns.ts";
import { compareText, type DNSMemory, type LeftAddress, type Pool } from "../model/resource.ts";
import { laterMs, parseTime, timestamp } from "../model/time.ts";
import { drainEndMs, isWritable, type PoolView, storedDrain, storedDrainSeconds } from "./pool-view.ts";

/** A name with what it shows now, or showed last where the records cannot be read just now. */
export interface ShownName {
  readonly owner: ObjectRef;
  readonly fqdn: string;
  readonly addresses: readonly string[];
  /** How long resolvers may keep what it shows, seconds. */
  readonly ttlSeconds: number;
  /** When its records can be changed: in this pass, once something has passed by itself, or not until a person acts. */
  readonly access: "now" | "later" | "never";
  /** When that passes, milliseconds; absent where nobody knows, or nothing has to. */
  readonly accessAtMs?: number;
  /** False where this is what status has. */
  readonly isRead: boolean;
  /** True for a name that its object has still to clean up: nothing is ever added to it. */
  readonly isFormer?: true;
  /** What it showed when its status was written, and shows no more: nobody has on record when that left. Absent = nothing. */
  readonly unrecorded?: readonly string[];
  /** True where only the process of another shard changes it. */
  readonly isOthers?: boolean;
  /** True where a change that failed is tried again, and is not due yet. */
  readonly isPaused?: true;
  /** True for a node whose addresses it is to show; absent where those of nodes are not its matter. */
  readonly showsNode?: (nodeName: string) => boolean;
}

/** What serves and what is shown, over all objects. */
export interface ServingNames {
  readonly names: readonly ShownName[];
  /** A name of which nobody knows yet what it shows. Absent = there is none. */
  readonly unknown?: string;
  /** Addresses that serve at this moment. */
  readonly serving: ReadonlySet<string>;
  /** Those of each pool and RoutedIP, by {@link refKey}: its name shows no others for long. */
  readonly servedBy: ReadonlyMap<string, ReadonlySet<string>>;
  /** Until when resolvers may hand out what names showed that only their statuses remember, by address, milliseconds; also times that are over. */
  readonly left: ReadonlyMap<string, number>;
  /** What names do not let go, although others serve beside it. Absent = nothing, as far as is known. */
  readonly kept?: KeptShown;
}

/** Addresses that names go on showing whatever flipop does by itself, as {@link shownKey} has them. They do not leave these names, and do not drain for their sake. */
export interface KeptShown {
  /** Their objects have nothing to show instead. */
  readonly last: ReadonlySet<string>;
  /** Their objects want them there, and let them go only where they have to leave their machines. */
  readonly wanted: ReadonlySet<string>;
}

/** Returns an address in a name of an object. */
export function shownKey(owner: ObjectRef, fqdn: string, ip: string): string {
  return `${refKey(owner)} ${fqdn} ${ip}`;
}

/** Returns what is known for an address that need not leave its machine: once all objects have decided. Pure. */
export function decided(facts: ServingNames): ServingNames {
  const { kept } = facts;
  return kept === undefined ? facts : { ...facts, kept: { ...kept, last: kept.last.union(kept.wanted) } };
}

/** Returns what the statuses of names remember of addresses that left them, as {@link ServingNames.left} has it. Pure. */
export function leftAddresses(names: readonly { readonly memory: DNSMemory }[]): ReadonlyMap<string, number> {
  const left = names.flatMap(({ memory: { leftDNS = [] } }) =>
    leftDNS.map(({ address, drainingUntil }) => [address, parseTime(drainingUntil) ?? 0] as const),
  );
  return new Map(left.toSorted(([, a], [, b]) => a - b));
}

/** Which addresses a name has to remember. */
export interface ToRemember {
  /** True for an address that no object remembers; of names that show other addresses than those of pools only for what an object manages now. */
  readonly isForgotten: (ip: string, isReserved: boolean) => boolean;
  /** True for the name of a record set that publishes reserved addresses. */
  readonly isReserved: boolean;
}

/**
 * Returns what a name's status has to remember beside its records once these writes are made: addresses that leave the name, and that no object remembers. Another
 * object may manage one by then, or soon. Also addresses of pools that stay while the TTL is lowered: they may leave soon, and resolvers have them by the old one. As
 * long as there is none of either what is stored stays: time alone changes nothing. Pure.
 */
export function rememberedLeft(
  stored: DNSMemory["leftDNS"] = [],
  writes: readonly WriteDNS[],
  { isForgotten, isReserved }: ToRemember,
  nowMs: number,
): Pick<DNSMemory, "leftDNS"> {
  const left = writes.flatMap((write) => {
    const { object, before, after, cachedSeconds } = write;
    const seconds = cacheSeconds(write);
    const drainingUntil = timestamp(nowMs + seconds * 1000);
    const leaving = ownPart(write, addressesWithout(before.addresses, after.addresses));
    const isOfPools = isReserved || object.kind !== "dns";
    const isLowered = isOfPools && cachedSeconds === undefined && meantSeconds(after.ttlSeconds) < seconds;
    const staying = isLowered ? addressesWithout(ownPart(write, before.addresses), leaving) : [];
    return [...leaving.filter((ip) => isForgotten(ip, isReserved)), ...staying].map((address) => ({
      address,
      drainingUntil,
    }));
  });
  if (left.length === 0) return stored.length === 0 ? {} : { leftDNS: stored };
  const isOpen = ({ address, drainingUntil }: LeftAddress): boolean => {
    const untilMs = parseTime(drainingUntil) ?? 0;
    const isLater = (one: LeftAddress): boolean =>
      one.address === address && (parseTime(one.drainingUntil) ?? 0) >= untilMs;
    return untilMs > nowMs && !left.some(isLater);
  };
  const open = stored.filter(isOpen);
  const added = left.filter(({ address }) => !open.some((one) => one.address === address));
  return { leftDNS: [...open, ...added].toSorted((a, b) => compareText(a.address, b.address)) };
}

/** Returns for how long resolvers keep what a change of records takes away, seconds. Pure. */
export function cacheSeconds({ before, after, cachedSeconds }: WriteDNS): number {
  return cachedSeconds ?? meantSeconds(before.ttlSeconds ?? after.ttlSeconds);
}

/** What a status has of a name is not believed for longer than this, seconds: no TTL is longer. */
const LONGEST_TTL_SECONDS = 86_400;

/** Returns how long resolvers may keep what a name shows, seconds; `ttlSeconds` is the TTL of its records. By a higher one that it had, as long as its status knows that. Pure. */
export function keptSeconds(ttlSeconds: number, { leftDNS = [] }: DNSMemory, nowMs: number): number {
  const rest = leftDNS.map(({ drainingUntil }) => ((parseTime(drainingUntil) ?? 0) - nowMs) / 1000);
  return Math.max(meantSeconds(ttlSeconds), ...rest.filter((seconds) => seconds <= LONGEST_TTL_SECONDS));
}

/**
 * Whether resolvers may still hand an address out:
 *
 *   shown       a name shows it beside others that serve: it leaves the name now, and stays until `untilMs`, `forSeconds` from then. `others`: the name, if only another process can take it out;
 *               `isPaused`: what failed is not due yet. Then a stored time stays as it is, and so does the status. Once the address is out, the name says for how long
 *               resolvers have it
 *   unwritable  such a name cannot be written just now, or (`isUnread`) has not been read; `atMs`: when it can, if that is known; `untilMs`: the end of a drain that has
 *               begun before
 *   waits       it has left its names; resolvers may have it until `untilMs`
 *   over        no resolver has it any more, or no name had anything else to show; `untilMs`: until when they had it
 */
export type Drain =
  | {
      readonly kind: "shown";
      readonly untilMs: number;
      readonly forSeconds: number;
      readonly others?: string;
      readonly isPaused?: true;
    }
  | { readonly kind: "waits"; readonly untilMs: number }
  | Unwritable
  | { readonly kind: "over"; readonly untilMs?: number };

/** As of a {@link Drain}. */
interface Unwritable {
  readonly kind: "unwritable";
  readonly name: string;
  readonly isUnread: boolean;
  readonly atMs?: number;
  readonly untilMs?: number;
}

/** No stored time is believed for longer than this beyond the TTL, milliseconds. */
const LONGEST_DRAIN_MS = 600_000;
/** The TTL where nothing is known of one, seconds. */
export const USUAL_TTL_SECONDS = 60;

/**
 * Returns whether resolvers may still hand out an address that is to leave its node, also for the objects that handed it over. Pure.
 *
 * @param going - other addresses of the pool that leave in this plan: they keep no name serving
 */
export function drainOf(view: PoolView, ip: string, facts: ServingNames, going: ReadonlySet<string>): Drain {
  const former = view.formerOwners?.get(ip) ?? [];
  const drain = former.reduce(
    (longest, owner) => longer(longest, ownDrain(owner, ip, facts, going)),
    ownDrain(view, ip, facts, going),
  );
  if (drain.kind !== "shown" || (drain.others === undefined && drain.isPaused !== true)) return drain;
  const storedMs = drainEndMs(view.pool, ip, view.nowMs) ?? 0;
  return storedMs > view.nowMs && storedMs < drain.untilMs ? { ...drain, untilMs: storedMs } : drain;
}

const DRAINS: readonly Drain["kind"][] = ["over", "waits", "shown", "unwritable"];

function longer(a: Drain, b: Drain): Drain {
  if (a.kind === "unwritable" || b.kind === "unwritable") return a.kind === "unwritable" ? a : b;
  const [more, less] = DRAINS.indexOf(b.kind) > DRAINS.indexOf(a.kind) ? [b, a] : [a, b];
  if (more.kind === "over") return more;
  const untilMs = Math.max(more.untilMs, untilOf(less));
  if (more.kind !== "shown" || less.kind !== "shown") return { ...more, untilMs };
  const forSeconds = Math.max(more.forSeconds, less.forSeconds);
  const isOwn = less.others === undefined && less.isPaused !== true;
  return isOwn ? { kind: "shown", untilMs, forSeconds } : { ...more, untilMs, forSeconds };
}

function untilOf({ untilMs = 0 }: Drain): number {
  return untilMs;
}

function ownDrain(view: PoolView, ip: string, facts: ServingNames, going: ReadonlySet<string>): Drain {
  const { pool, object, nowMs, managed, inUse, handedOver } = view;
  const { names, serving, servedBy } = facts;
  const isOther = servesBeside(ip, serving, going);
  // What the object handed over serves its own names until it leaves them. What it was handed, or inherited, enters none before it has a node.
  const staysIn = [...handedOver.map((handed) => handed.ip), ...[...inUse].filter((other) => serving.has(other))];
  const isStayingIn = servesBeside(ip, new Set(staysIn), going);
  const ownServing = servedBy.get(refKey(object));
  const hasOthers = managed.some(
    (other) => inUse.has(other.ip) && ownServing?.has(other.ip) === true && isOther(other.ip),
  );
  const isOwn = ({ owner }: ShownName): boolean => refKey(owner) === refKey(object);
  // A name leaves an address out only where it can show another one of its object.
  const isOtherOf = ({ owner }: ShownName): ((other: string) => boolean) => {
    const own = servedBy.get(refKey(owner));
    return (other) => isOther(other) && own?.has(other) !== false;
  };
  // What was handed over leaves only the object's own names: those of its new owner go on showing it.
  const leaves = handedOver.some((handed) => handed.ip === ip) ? names.filter(isOwn) : names;
  const unused = new Set(managed.flatMap((other) => (inUse.has(other.ip) ? [] : [other.ip])));
  const keepsServing = (name: ShownName): boolean => {
    // What a former name does not show already never enters it, and what is not used leaves it, too.
    if (name.isFormer === true) return name.addresses.some((other) => !unused.has(other) && isOtherOf(name)(other));
    return name.addresses.some(isOtherOf(name)) || (isOwn(name) && (hasOthers || name.addresses.some(isStayingIn)));
  };
  const isKept = ({ owner, fqdn }: ShownName): boolean => facts.kept?.last.has(shownKey(owner, fqdn, ip)) === true;
  const showing = leaves.filter((name) => name.addresses.includes(ip) && keepsServing(name) && !isKept(name));
  const writable = showing.filter(({ access }) => access === "now");
  const blocked = showing.find(({ access }) => access === "later");
  const own = names.filter(isOwn);
  const begun = withUnrecorded(view, ip, names, unshownDrain(view, ip, facts, own.length > 0 ? own : names));
  if (blocked !== undefined) return asUnwritable(view, ip, blocked, begun);
  if (writable.length === 0) return begun;
  const forSeconds = longestTTL(writable) + extraSeconds(pool);
  const [others] = writable.every(({ isOthers }) => isOthers === true) ? writable : [];
  const isPaused = writable.every((name) => name.isPaused === true || name.isOthers === true);
  return {
    kind: "shown",
    untilMs: nowMs + forSeconds * 1000,
    forSeconds,
    ...(others === undefined ? {} : { others: others.fqdn }),
    ...(isPaused ? { isPaused } : {}),
  };
}

/**
 * An old reading may show what has left a name already, and so may what status has: the address goes on leaving. So does one that the name has refused to let go, or another one:
 * what it has left it does not enter again for the sake of a name that cannot be read.
 */
function asUnwritable(
  { pool, nowMs }: PoolView,
  ip: string,
  { fqdn: name, isRead, accessAtMs: atMs }: ShownName,
  begun: Drain,
): Drain {
  const goesOn = begun.kind === "waits" || (!isRead && storedDrain(pool, ip) !== undefined);
  const untilMs = goesOn ? (begun.untilMs ?? drainEndMs(pool, ip, nowMs)) : undefined;
  return {
    kind: "unwritable",
    name,
    isUnread: !isRead,
    ...(atMs === undefined ? {} : { atMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}

/** Returns whether resolvers may still have an address that no name shows beside others; `names` say for how long at most. */
function unshownDrain(
  { pool, nowMs, inherited }: PoolView,
  ip: string,
  { left, unknown }: ServingNames,
  names: readonly ShownName[],
): Drain {
  const leftMs = left.get(ip);
  const storedMs = drainEndMs(pool, ip, nowMs);
  const longestMs = nowMs + longestTTL(names) * 1000 + LONGEST_DRAIN_MS;
  const untilMs = laterMs(
    storedMs === undefined ? undefined : Math.min(storedMs, longestMs),
    leftMs === undefined || leftMs > nowMs + LONGEST_TTL_SECONDS * 1000
      ? undefined
      : leftMs + extraSeconds(pool) * 1000,
  );
  if (untilMs === undefined && inherited?.has(ip) === true && unknown !== undefined)
    return { kind: "unwritable", name: unknown, isUnread: true };
  if (untilMs === undefined) return { kind: "over" };
  return untilMs > nowMs ? { kind: "waits", untilMs } : { kind: "over", untilMs };
}

/**
 * Returns the drain of an address that was about to leave its names when status was written, and that no name shows any more: a run died before it could put that on record. Nobody
 * knows when it left, so it begins to drain now.
 */
function withUnrecorded(view: PoolView, ip: string, names: readonly ShownName[], begun: Drain): Drain {
  const { pool, nowMs } = view;
  const seconds = storedDrainSeconds(pool, ip) ?? unrecordedSeconds(view, ip, names);
  const isStill = begun.kind === "unwritable" || isShownIn(names, ip) || !isWritable(view);
  if (seconds === undefined || isStill) return begun;
  const longestMs = (longestTTL(names) + extraSeconds(pool)) * 1000 + LONGEST_DRAIN_MS;
  return { kind: "waits", untilMs: Math.max(untilOf(begun), nowMs + Math.min(seconds * 1000, longestMs)) };
}

/** For how long an address drains, seconds, that has left names without any status that says so: it could not be written. Undefined where there is none. */
function unrecordedSeconds({ pool }: PoolView, ip: string, names: readonly ShownName[]): number | undefined {
  const left = names.filter(({ unrecorded }) => unrecorded?.includes(ip) === true);
  if (left.length === 0 || storedDrain(pool, ip) !== undefined) return undefined;
  return longestTTL(left) + extraSeconds(pool);
}

/** How much longer than a TTL the addresses of a pool stay, seconds. */
function extraSeconds({ spec }: Pool): number {
  return spec.drainSeconds ?? 0;
}

/** True for an address that a name shows now, or showed last where its records cannot be read. Pure. */
export function isShownIn(names: readonly ShownName[], ip: string): boolean {
  return names.some(({ addresses }) => addresses.includes(ip));
}

/** True where a name shows an address, is to show another one that serves on its node, and does not yet. Pure. */
export function isJoined(
  { names }: ServingNames,
  ip: string,
  others: readonly { readonly ip: string; readonly nodeName: string }[],
): boolean {
  const showing = names.filter(({ addresses }) => addresses.includes(ip));
  return showing.some(({ addresses, showsNode }) =>
    others.some((other) => !addresses.includes(other.ip) && showsNode?.(other.nodeName) === true),
  );
}

/** Returns the first name that has nothing but this address which serves and stays; undefined if no name would be without service. Pure. */
export function lastServingIn(
  ip: string,
  { names, serving }: ServingNames,
  going: ReadonlySet<string>,
): string | undefined {
  const isOther = servesBeside(ip, serving, going);
  return names.find(({ addresses }) => addresses.includes(ip) && !addresses.some(isOther))?.fqdn;
}

/** Returns what says whether another address than this one serves, and stays. */
function servesBeside(
  ip: string,
  serving: ReadonlySet<string>,
  going: ReadonlySet<string>,
): (address: string) => boolean {
  return (address) => address !== ip && serving.has(address) && !going.has(address);
}

function longestTTL(names: readonly ShownName[]): number {
  return Math.max(...(names.length === 0 ? [USUAL_TTL_SECONDS] : names.map(({ ttlSeconds }) => ttlSeconds)));
}
