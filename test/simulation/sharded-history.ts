import { faultPlan } from "./fault-plan.ts";
import { generate } from "./generate.ts";
import type { History, Slot } from "./history.ts";
import { mishaps } from "./mishaps.ts";
import { Random } from "./random.ts";

/** The three processes: one without `--shard`, and two with the shard of a label. */
const SHARDS = [undefined, "a", "b"] as const;
/** The same with numbered ones in the place of the first: what has no label is of 3/3, by the name of its namespace. The others find nothing that is theirs. */
const NUMBERED = ["3/3", "a", "b", "1/3", "2/3"] as const;
/** Whose objects are: of three pools and three record sets each process has one of each, and an IPv6 twin of another one's pool. */
const OBJECTS = { p1: "a", p2: "b", r0: "a", r1: "b", v0: "a", v1: "b" } as const;

/**
 * The history of a seed in which three shards work at the same time in the world of {@link generate} or another one, each with a clock and settings of its own, and each
 * killed and struck on its own. Every second one has numbered shards.
 */
export function shardedHistory(seed: number, world: (seed: number) => History = generate): History {
  const { events, ...history } = world(seed);
  const random = new Random(seed ^ 0x7f4a7c15);
  const slots = (seed % 2 === 0 ? NUMBERED : SHARDS).map((shard): Slot => {
    return {
      pauseMs: random.between(1, 12) * 1000,
      startsAtMs: random.between(0, 5) * 1000,
      timeoutMs: random.pick([8, 20, 45]) * 1000,
      settles: random.chance(0.4),
      onLocked: random.pick(["fail", "skip", "wait"]),
      ...(random.chance(0.3) ? { skewMs: random.between(-10, 10) * 60_000 } : {}),
      ...(shard === undefined ? {} : { shard }),
    };
  });
  const { endsAtMs } = history;
  const more = [...faultPlan(random, endsAtMs, slots.length), ...mishaps(random, endsAtMs, slots.length)];
  return {
    ...history,
    hasLock: true,
    slots,
    shards: OBJECTS,
    events: [...events, ...more].toSorted((a, b) => a.atMs - b.atMs),
  };
}
