import { burdens } from "./burdens.ts";
import { dnsHistory } from "./dns-history.ts";
import { faultPlan } from "./fault-plan.ts";
import { happenings } from "./happenings.ts";
import type { History, Slot, WorldEvent } from "./history.ts";
import { mishaps } from "./mishaps.ts";
import { Random } from "./random.ts";
import { nodeEvents } from "./random-nodes.ts";
import { LISTED, POOLS, poolSpec } from "./random-pool.ts";

/** How many of a hundred histories are of names, too. */
const WITH_DNS = 0.7;

/**
 * The history of a seed: what the world is, what happens to it, and what fails.
 *
 * @param mayHaveDNS - false leaves every name out; what is left is the same
 */
export function generate(seed: number, mayHaveDNS = true): History {
  const random = new Random(seed);
  const hasLock = random.chance(0.8);
  const slots = Array.from({ length: hasLock && random.chance(0.4) ? 2 : 1 }, (): Slot => slot(random));
  const endsAtMs = random.between(40, 300) * 1000;
  const names = new Random(seed ^ 0x3c6ef372);
  const events = [
    ...setup(random),
    ...happenings(random, endsAtMs),
    ...faultPlan(random, endsAtMs, slots.length),
    ...burdens(new Random(seed ^ 0x2545f491), endsAtMs, slots.length),
    ...mishaps(new Random(seed ^ 0x1b873593), endsAtMs, slots.length),
    ...(mayHaveDNS && names.chance(WITH_DNS) ? dnsHistory(names, endsAtMs, slots.length) : []),
  ];
  const clocks = new Random(seed ^ 0x61c88647);
  return {
    seed,
    hasLock,
    slots: slots.map((one) => (clocks.chance(0.4) ? { ...one, skewMs: clocks.between(-10, 10) * 60_000 } : one)),
    latencyMs: random.pick([0, 0, 40, 150]),
    endsAtMs,
    events: events.toSorted((a, b) => a.atMs - b.atMs),
  };
}

function slot(random: Random): Slot {
  return {
    pauseMs: random.between(1, 20) * 1000,
    startsAtMs: random.between(0, 5) * 1000,
    timeoutMs: random.pick([8, 20, 45]) * 1000,
    settles: random.chance(0.4),
    onLocked: random.pick(["fail", "skip", "wait"]),
    ...(random.chance(0.1) ? { target: "shop/p0" } : {}),
  };
}

function setup(random: Random): readonly WorldEvent[] {
  const atMs = 0;
  const nodes = random.between(2, 6);
  const events: WorldEvent[] = [
    {
      atMs,
      kind: "cloud",
      delayMs: random.pick([0, 0, 300, 2000, 9000, 20_000]),
      lagMs: random.pick([0, 0, 0, 1000, 4000]),
      quota: random.pick([100, 100, 4, 2]),
    },
  ];
  for (let index = 1; index <= nodes; index += 1) events.push(...nodeEvents(random, index, 100 + index, atMs));
  for (const ip of LISTED.slice(0, random.between(1, LISTED.length))) {
    const on = random.chance(0.3) ? 100 + random.between(1, nodes) : null;
    events.push({
      atMs,
      kind: "address",
      ip,
      on,
      region: random.chance(0.9) ? "nyc3" : "fra1",
      isBYOIP: random.chance(0.15),
    });
  }
  for (const id of [901, 902]) events.push({ atMs, kind: "droplet", id, region: "nyc3" });
  const pools = random.between(1, 3);
  for (const name of POOLS.slice(0, pools)) events.push({ atMs, kind: "pool", name, spec: poolSpec(random) });
  return events;
}
