import type { History, Slot, WorldEvent } from "./history.ts";
import { lastingHistory } from "./lasting-history.ts";
import { Random } from "./random.ts";

/** A pool that is worked for by the process of each, one of which is numbered or has no shard: all that has no label is its own. */
const LABELS = [null, "a", "b"] as const;
/** So much before the loss the process of the lost node's pool is killed that its standby works by then, milliseconds: a Lease lasts 15 s. */
const KILLED_BEFORE_MS = 18_000;
/** Time between two full looks, milliseconds: three shards look three times. */
const INTERVAL_MS = 30_000;

/**
 * The history of {@link lastingHistory} with three shards, each of which watches: the pool of the lost node is of one, what stays wrong is of another. Others are killed, stand
 * still or are stopped. The shard of that pool may change right before the loss, and its process may have died, with a standby. The address moves at once all the same,
 * and all shards together ask the providers no more than one process may.
 */
export function lastingShards(seed: number): History {
  const { events, ...history } = lastingHistory(seed);
  const random = new Random(seed ^ 0x2c1b3c6d);
  const [good, wrong, third] = random.pick([
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
    [0, 2, 1],
  ] as const);
  const lostAtMs = events.find(({ kind }) => kind === "ready")?.atMs ?? 0;
  const base = random.chance(0.5) ? {} : { shard: "3/3" };
  const places = LABELS.map((label) => (label === null ? base : { shard: label }));
  const hasStandby = random.chance(0.4);
  const slots = [...places, ...(hasStandby ? [places[good] ?? base] : [])].map(
    (place, index): Slot => ({
      pauseMs: 1000,
      // The standby begins later: whose pool it is leads.
      startsAtMs: index < places.length ? 0 : 3000,
      timeoutMs: 45_000,
      settles: false,
      onLocked: "wait",
      intervalMs: INTERVAL_MS,
      ...place,
    }),
  );
  const troubled = [wrong, third];
  const more: readonly WorldEvent[] = [
    ...(hasStandby ? [{ atMs: lostAtMs - KILLED_BEFORE_MS, kind: "kill", slot: good } as const] : []),
    ...(!hasStandby && random.chance(0.5) ? givenBefore(random, lostAtMs, third) : []),
    ...trouble(random, lostAtMs, hasStandby ? troubled : [wrong]),
  ];
  return {
    ...history,
    hasLock: true,
    slots,
    shards: labels({ p0: good, p1: wrong, r0: wrong }),
    events: [...events, ...more].toSorted((a, b) => a.atMs - b.atMs),
  };
}

/** The pool becomes another process's, at the latest in the moment of the loss. */
function givenBefore(random: Random, lostAtMs: number, to: number): readonly WorldEvent[] {
  const atMs = lostAtMs - random.pick([0, 1, 200, 1000, 4000]);
  return [{ atMs, kind: "give", object: "pools", name: "p0", shard: LABELS[to] ?? null }];
}

/** What befalls processes that the address does not depend on. */
function trouble(random: Random, lostAtMs: number, slots: readonly number[]): readonly WorldEvent[] {
  return slots.flatMap((slot): readonly WorldEvent[] => {
    const atMs = Math.max(1, lostAtMs - random.between(-5, 20) * 1000);
    const roll = random.between(1, 4);
    if (roll === 1) return [{ atMs, kind: "kill", slot }];
    if (roll === 2) return [{ atMs, kind: "stop", slot, ms: 30_000 }];
    if (roll === 3) return [{ atMs, kind: "freeze", slot, skip: 0, ms: 30_000, side: "cluster", operation: "*" }];
    return [];
  });
}

function labels(places: Readonly<Record<string, number>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(places).flatMap(([name, place]) => {
      const label = LABELS[place];
      return label === null || label === undefined ? [] : [[name, label]];
    }),
  );
}
