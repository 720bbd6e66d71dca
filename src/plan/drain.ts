import { type ObjectRef, refKey } from "../model/action.ts";
import { parseTime } from "../model/time.ts";
import { type PoolView, statusOf } from "./pool-view.ts";

/** A name with what it shows now, or showed last where the records cannot be read just now. */
export interface ShownName {
  readonly owner: ObjectRef;
  readonly fqdn: string;
  readonly addresses: readonly string[];
  /** How long resolvers may keep what it shows, seconds. */
  readonly ttlSeconds: number;
  /** When its records can be changed: in this pass, once something has passed by itself, or not until a person acts. */
  readonly access: "now" | "later" | "never";
  /** False where this is what status has. */
  readonly isRead: boolean;
}

/** What serves and what is shown, over all objects. */
export interface ServingNames {
  readonly names: readonly ShownName[];
  /** Addresses that serve at this moment. */
  readonly serving: ReadonlySet<string>;
}

/**
 * Whether resolvers may still hand an address out:
 *
 *   shown       a name shows it beside others that serve: it leaves the name now, and stays until `untilMs`
 *   unwritable  such a name cannot be written just now
 *   waits       it has left its names; resolvers may have it until `untilMs`
 *   over        no resolver has it any more, or no name had anything else to show; `untilMs`: until when they had it
 */
export type Drain =
  | { readonly kind: "shown" | "waits"; readonly untilMs: number }
  | { readonly kind: "unwritable"; readonly name: string }
  | { readonly kind: "over"; readonly untilMs?: number };

/** No stored time is believed for longer than this beyond the TTL, milliseconds. */
const LONGEST_DRAIN_MS = 600_000;
/** The TTL where nothing is known of one, seconds. */
const USUAL_TTL_SECONDS = 60;

/**
 * Returns whether resolvers may still hand out an address that is to leave its node. Pure.
 *
 * @param going - other addresses of the pool that leave in this plan: they keep no name serving
 */
export function drainOf(
  { pool, object, nowMs, managed, inUse }: PoolView,
  ip: string,
  { names, serving }: ServingNames,
  going: ReadonlySet<string>,
): Drain {
  const isOther = (other: string): boolean => other !== ip && serving.has(other) && !going.has(other);
  const hasOthers = managed.some((other) => inUse.has(other.ip) && isOther(other.ip));
  const isOwn = ({ owner }: ShownName): boolean => refKey(owner) === refKey(object);
  const showing = names.filter(
    (name) => name.addresses.includes(ip) && (name.addresses.some(isOther) || (isOwn(name) && hasOthers)),
  );
  const extraMs = (pool.spec.drainSeconds ?? 0) * 1000;
  const writable = showing.filter(({ access }) => access === "now");
  const blocked = showing.find(({ access }) => access === "later");
  if (blocked !== undefined) return { kind: "unwritable", name: blocked.fqdn };
  if (writable.length > 0) return { kind: "shown", untilMs: nowMs + longestTTL(writable) * 1000 + extraMs };
  const storedMs = parseTime(statusOf(pool, ip)?.drainingUntil ?? "");
  if (storedMs === undefined) return { kind: "over" };
  const own = names.filter(isOwn);
  const mostMs = nowMs + longestTTL(own.length > 0 ? own : names) * 1000 + LONGEST_DRAIN_MS;
  const untilMs = Math.min(storedMs, mostMs);
  return untilMs > nowMs ? { kind: "waits", untilMs } : { kind: "over", untilMs };
}

function longestTTL(names: readonly ShownName[]): number {
  return Math.max(...(names.length === 0 ? [USUAL_TTL_SECONDS] : names.map(({ ttlSeconds }) => ttlSeconds)));
}
