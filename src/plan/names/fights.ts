import type { WriteDNS } from "../../model/action.ts";
import { addressesWithout, recordAddresses } from "../../model/dns.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { Obstacle } from "../../model/plan.ts";
import { type RecordType, setNamed } from "../../model/record-types.ts";
import { type NameFight, ownAddresses } from "../../model/resource.ts";
import { formatTime, isPast, pastMs, timestamp } from "../../model/time.ts";
import { obstacle } from "../holds.ts";
import { retryDelayMs } from "../retries.ts";
import { nameKey, publishedKey } from "./name-claims.ts";
import type { NameTarget, ReadyTarget } from "./name-target.ts";
import type { Publisher } from "./publishers.ts";

/*
 * Fights over a name: somebody else changes its records, flipop puts them right, and so on. A write is a repair if what the object wants is what it had there before
 * (`status.publishedDNS`), for the same spec. What it wants anew, such as after a failover, is none.
 *
 *   repairs                          the next one
 *   fewer than three in ten minutes  at once
 *   three in ten minutes             a minute after the last one, then five minutes, then ten: the name is contested
 *   none for twenty minutes          at once: the fight is over
 *
 * Where the name shows no address, or one of the object's own that serves no more, clients get no answer: then the waits are those of the fast schedule, which begins
 * with a second. What the object wants anew is never a repair, so a failover waits for nothing, however long the fight.
 */
const BEGINS_WITH = 3;
const BEGINS_WITHIN_MS = 600_000;
const OVER_AFTER_MS = 1_200_000;

/** Returns true if making the records these is a repair: flipop had them so, and somebody else changed them. Pure. */
export function isRepair(publisher: Publisher, target: ReadyTarget, wanted: readonly string[]): boolean {
  const { memory, meta } = publisher;
  if (memory.observedGeneration !== meta.generation || wanted.length === 0) return false;
  const { publishedDNS, fight } = memory;
  // While there is a fight, it has what flipop put there last.
  if (isAbout(fight, target)) return fight.addresses.join() === wanted.join();
  const isStored = publishedDNS !== undefined && publishedKey(publishedDNS) === nameKey(target.name);
  return isStored && recordAddresses(ownAddresses(publishedDNS)).join() === wanted.join();
}

/** What a name is put right to. */
interface Repair {
  readonly wanted: readonly string[];
  readonly ttlSeconds: number;
  /** The addresses there that flipop did not write. */
  readonly foreign: readonly string[];
}

/** Returns why a repair waits; undefined if it does not. Pure. */
export function fightObstacle(
  { memory: { fight } }: Publisher,
  target: ReadyTarget,
  { wanted, foreign, ttlSeconds }: Repair,
  nowMs: number,
): Obstacle | undefined {
  const { addresses, ttlSeconds: ttl } = target.records;
  if (!isAbout(fight, target) || fight.ttlSeconds !== ttlSeconds) return undefined;
  const isAnswered = addresses.length > 0 && addresses.every((ip) => wanted.includes(ip) || foreign.includes(ip));
  const notBeforeMs = dueMs(fight, isAnswered ? "slow" : "fast", nowMs);
  if (notBeforeMs <= nowMs) return undefined;
  const content = addresses.length === 0 ? "no address" : addresses.join(", ");
  const isTTLAlone = ttl !== undefined && ttl !== ttlSeconds && addressesWithout(wanted, addresses).length === 0;
  const [since, last] = [fight.since, fight.times.at(-1)].map((time) => formatTime(pastMs(time, nowMs) ?? nowMs));
  const detail =
    `since ${since} somebody else has changed its records ${fight.count + 1} times, and flipop put them right ${fight.count === 1 ? "once" : `${fight.count} times`}, last at ${last}; ` +
    `now ${content} ${addresses.length > 1 ? "stand" : "stands"} there` +
    (isAnswered && isTTLAlone ? ` with a TTL of ${ttl} s, not ${ttlSeconds} s` : "");
  return obstacle("Contested", detail, { needsPerson: true, notBeforeMs });
}

/** True while repairs of a name may have to wait. Pure. */
export function isContested({ memory: { fight } }: Publisher, target: ReadyTarget, nowMs: number): boolean {
  return isAbout(fight, target) && dueMs(fight, "slow", nowMs) > nowMs;
}

/** Returns what an object has on record of the fight once this repair is tried. Pure. */
export function withRepair(fight: NameFight | undefined, write: WriteDNS, nowMs: number): NameFight {
  const { dnsProvider: provider, fqdn: name, before, after } = write;
  const { ttlSeconds } = after;
  const isSame = fight?.provider === provider && fight.name === name && fight.ttlSeconds === ttlSeconds;
  const known = isSame ? fight : undefined;
  const now = timestamp(nowMs);
  const goesOn = known !== undefined && isGoingOn(known, nowMs);
  const recent = (known?.times ?? []).filter((time) => nowMs - (pastMs(time, nowMs) ?? 0) < BEGINS_WITHIN_MS);
  const [first = now] = recent;
  return {
    provider,
    name,
    addresses: addressesOf(write),
    ttlSeconds,
    seen: before.addresses,
    since: goesOn ? known.since : first,
    times: [...(goesOn ? known.times : recent), now].slice(-BEGINS_WITH),
    count: goesOn ? known.count + 1 : recent.length + 1,
  };
}

/** Returns the fight over records of a type as it is on record after these outcomes. A repair that was not made does not count; what else flipop wrote is what it defends from now on. Pure. */
export function afterWrites(
  fight: NameFight | undefined,
  type: RecordType,
  outcomes: readonly Outcome[],
  nowMs: number,
): { readonly fight?: NameFight } {
  const writes = outcomes.flatMap(({ action, outcome }) =>
    action.kind === "update-dns" && outcome === "applied" && setNamed(action.fqdn).type === type ? [action] : [],
  );
  let after = fight;
  for (const write of writes) {
    if (write.isRepair === true) after = withRepair(after, write, nowMs);
    else if (after?.provider === write.dnsProvider && after.name === write.fqdn)
      after = { ...after, addresses: addressesOf(write) };
  }
  return after === undefined ? {} : { fight: after };
}

/**
 * Returns what an object goes on having on record of the fight; nothing once it has another name. One that is over stays on record, and counts no more: time alone writes
 * nothing. A time in the future is now, once. Pure.
 */
export function rememberedFight(
  fight: NameFight | undefined,
  target: NameTarget,
  nowMs: number,
): { readonly fight?: NameFight } {
  if (fight === undefined || target.kind === "none" || (target.kind === "ready" && !isAbout(fight, target))) return {};
  const { since, times } = fight;
  if (pastMs(times.at(-1), nowMs) === undefined) return {};
  const known = (time: string): string => (isPast(time, nowMs) ? time : timestamp(nowMs));
  return { fight: { ...fight, since: known(since), times: times.map(known) } };
}

/** The object's own addresses that a change leaves at a name. */
function addressesOf({ after, others }: WriteDNS): readonly string[] {
  return after.addresses.filter((ip) => others?.addresses.includes(ip) !== true);
}

function isAbout(fight: NameFight | undefined, { name }: ReadyTarget): fight is NameFight {
  return fight?.provider === name.provider && fight.name === name.fqdn;
}

function isGoingOn({ count, times }: NameFight, nowMs: number): boolean {
  const lastMs = pastMs(times.at(-1), nowMs);
  return count >= BEGINS_WITH && lastMs !== undefined && nowMs - lastMs < OVER_AFTER_MS;
}

function dueMs(fight: NameFight, schedule: "fast" | "slow", nowMs: number): number {
  if (!isGoingOn(fight, nowMs)) return nowMs;
  // A time that has not come says nothing: it would be now in each pass that cannot store what it counts from.
  if (!isPast(fight.times.at(-1) ?? "", nowMs)) return nowMs;
  return (pastMs(fight.times.at(-1), nowMs) ?? nowMs) + retryDelayMs(schedule, fight.count - BEGINS_WITH + 1);
}
