import { partOf } from "../../src/model/shard.ts";
import { faultPlan } from "./fault-plan.ts";
import { generate } from "./generate.ts";
import type { History, Slot } from "./history.ts";
import { mishaps } from "./mishaps.ts";
import { Random } from "./random.ts";
import { type Givable, giveEvents, givenMeanwhile, stops } from "./shard-happenings.ts";

/** The shards of a history: one process of each, in this order. */
type Layout = readonly (Pick<Slot, "shard"> & Partial<Pick<Slot, "startsAtMs" | "endsAtMs">>)[];

/** Whose work is what has no label where namespaces are shared among two, and among three. */
const OF_TWO = `${partOf("shop", 2)}/2`;
const OF_THREE = `${partOf("shop", 3)}/3`;
/** The namespaces of these histories fall to one of three; the others find nothing that is theirs. */
const IDLE = ["1/3", "2/3", "3/3"].filter((shard) => shard !== OF_THREE);

/** Whose objects are: of three pools and three record sets each process has one of each, and an IPv6 twin of another one's pool. */
const OBJECTS = { p1: "a", p2: "b", r0: "a", r1: "b", v0: "a", v1: "b" } as const;
/** Objects whose label changes. */
const GIVABLE: Givable = {
  pools: ["p0", "p1", "p2", "v0", "v1", "v2"],
  recordSets: ["r0", "r1", "r2"],
  shards: [null, "a", "b"],
};

/**
 * The history of a seed in which three shards work at the same time in the world of {@link generate} or another one, each with a clock and settings of its own, and each
 * killed, struck and stopped on its own. Labels of objects change, often right after something else was done to them. Of four seeds one has numbered shards, in one their
 * number changes, and in one shards have a standby.
 */
export function shardedHistory(seed: number, world: (seed: number) => History = generate): History {
  const { events, ...history } = world(seed);
  const random = new Random(seed ^ 0x7f4a7c15);
  const { endsAtMs } = history;
  const slots = layout(seed, random, endsAtMs).map((place): Slot => {
    return {
      pauseMs: random.between(1, 12) * 1000,
      startsAtMs: random.between(0, 5) * 1000,
      timeoutMs: random.pick([8, 20, 45]) * 1000,
      settles: random.chance(0.4),
      onLocked: random.pick(["fail", "skip", "wait"]),
      ...(random.chance(0.3) ? { skewMs: random.between(-10, 10) * 60_000 } : {}),
      ...place,
    };
  });
  const more = [
    ...faultPlan(random, endsAtMs, slots.length),
    ...mishaps(random, endsAtMs, slots.length),
    ...giveEvents(random, endsAtMs, GIVABLE),
    ...givenMeanwhile(random, events, GIVABLE),
    ...stops(random, endsAtMs, slots.length),
  ];
  const struck = random.chance(0.5) ? giveEvents(random, endsAtMs, GIVABLE).slice(0, 1) : [];
  return {
    ...history,
    hasLock: true,
    slots,
    shards: OBJECTS,
    events: [...events, ...more].toSorted((a, b) => a.atMs - b.atMs),
    ...(struck.length === 0 ? {} : { strike: { call: random.between(30, 900), events: struck } }),
  };
}

function layout(seed: number, random: Random, endsAtMs: number): Layout {
  const named = [{ shard: "a" }, { shard: "b" }];
  switch (seed % 4) {
    case 0:
      return [{ shard: OF_THREE }, ...named, ...IDLE.map((shard) => ({ shard }))];
    case 1:
      return [{}, ...named];
    case 2: {
      // The new ones may be started before the old one has ended.
      const atMs = random.between(10_000, endsAtMs - 5000);
      const [before, after] = random.pick<readonly [Pick<Slot, "shard">, Pick<Slot, "shard">]>([
        [{ shard: OF_THREE }, { shard: OF_TWO }],
        [{ shard: OF_TWO }, { shard: OF_THREE }],
        [{}, { shard: OF_TWO }],
        [{ shard: OF_TWO }, {}],
      ]);
      return [
        { ...before, endsAtMs: atMs },
        ...named,
        { ...after, startsAtMs: Math.max(0, atMs + random.between(-40, 20) * 1000) },
      ];
    }
    default:
      return [random.pick([{}, { shard: OF_THREE }]), ...named, random.pick(named)];
  }
}
