import type { WriteDNS } from "../../model/action.ts";
import type { Obstacle } from "../../model/plan.ts";
import { type NameFight, ownAddresses } from "../../model/resource.ts";
import type { Outcome } from "../../model/run.ts";
import { formatTime, pastMs, timestamp } from "../../model/time.ts";
import { obstacle } from "../holds.ts";
import { retryDelayMs } from "../retries.ts";
import { nameKey, publishedKey } from "./name-claims.ts";
import type { ReadyTarget } from "./name-target.ts";
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
 * Two repairs never wait: of a name that shows no address, and of one that shows an address of the object's own that serves no more.
 */
const BEGINS_WITH = 3;
const BEGINS_WITHIN_MS = 600_000;
const OVER_AFTER_MS = 1_200_000;

/** Returns true if making the records these is a repair: flipop had them so, and somebody else changed them. Pure. */
export function isRepair(publisher: Publisher, target: ReadyTarget, wanted: readonly string[]): boolean {
  const { memory, meta } = publisher;
  if (memory.observedGeneration !== meta.generation || wanted.length === 0) return false;
  const { publishedDNS, fight } = memory;
  const isStored = publishedDNS !== undefined && publishedKey(publishedDNS) === nameKey(target.name);
  return (
    (isStored && ownAddresses(publishedDNS).join() === wanted.join()) ||
    (isAbout(fight, target) && fight.addresses.join() === wanted.join())
  );
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
  const { addresses } = target.records;
  const mayWait = addresses.length > 0 && addresses.every((ip) => wanted.includes(ip) || foreign.includes(ip));
  if (!mayWait || !isAbout(fight, target) || fight.ttlSeconds !== ttlSeconds) return undefined;
  const notBeforeMs = dueMs(fight, nowMs);
  if (notBeforeMs <= nowMs) return undefined;
  const [since, last] = [fight.since, fight.times.at(-1)].map((time) => formatTime(pastMs(time, nowMs) ?? nowMs));
  const detail =
    `since ${since} somebody else has changed its records ${fight.count + 1} times, and flipop put them right ${fight.count} times, last at ${last}; ` +
    `now ${addresses.join(", ")} ${addresses.length === 1 ? "stands" : "stand"} there`;
  return obstacle("Contested", detail, { needsPerson: true, notBeforeMs });
}

/** True while repairs of a name may have to wait. Pure. */
export function isContested({ memory: { fight } }: Publisher, target: ReadyTarget, nowMs: number): boolean {
  return isAbout(fight, target) && dueMs(fight, nowMs) > nowMs;
}

/** Returns what an object has on record of the fight once this repair is tried. Pure. */
export function withRepair(fight: NameFight | undefined, write: WriteDNS, nowMs: number): NameFight {
  const { dnsProvider: provider, fqdn: name, before, after, others } = write;
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
    addresses: after.addresses.filter((ip) => others?.addresses.includes(ip) !== true),
    ttlSeconds,
    seen: before.addresses,
    since: goesOn ? known.since : first,
    times: [...(goesOn ? known.times : recent), now].slice(-BEGINS_WITH),
    count: goesOn ? known.count + 1 : recent.length + 1,
  };
}

/** Returns the fight as it is on record after these outcomes. A repair that was not made does not count. Pure. */
export function afterRepairs(
  fight: NameFight | undefined,
  outcomes: readonly Outcome[],
  nowMs: number,
): { readonly fight?: NameFight } {
  const repairs = outcomes.flatMap(({ action, outcome }) =>
    action.kind === "update-dns" && action.isRepair === true && outcome === "applied" ? [action] : [],
  );
  const after = repairs.reduce<NameFight | undefined>((known, write) => withRepair(known, write, nowMs), fight);
  return after === undefined ? {} : { fight: after };
}

function isAbout(fight: NameFight | undefined, { name }: ReadyTarget): fight is NameFight {
  return fight?.provider === name.provider && fight.name === name.fqdn;
}

function isGoingOn({ count, times }: NameFight, nowMs: number): boolean {
  const lastMs = pastMs(times.at(-1), nowMs);
  return count >= BEGINS_WITH && lastMs !== undefined && nowMs - lastMs < OVER_AFTER_MS;
}

function dueMs(fight: NameFight, nowMs: number): number {
  if (!isGoingOn(fight, nowMs)) return nowMs;
  return (pastMs(fight.times.at(-1), nowMs) ?? nowMs) + retryDelayMs("slow", fight.count - BEGINS_WITH + 1);
}
