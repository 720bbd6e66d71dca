import type { WorldEvent } from "./history.ts";
import type { Random } from "./random.ts";
import { POOLS } from "./random-pool.ts";

/** Rare things that a history meets beside what {@link happenings} brings: several that belong together, or much at once. */
export function burdens(random: Random, endsAtMs: number, slots: number): readonly WorldEvent[] {
  return [
    ...(random.chance(0.25) ? freezes(random, endsAtMs, slots) : []),
    ...(random.chance(0.2) ? lostAnswers(random, endsAtMs) : []),
    ...(random.chance(0.06) ? manyAtOnce(random, endsAtMs) : []),
    ...(random.chance(0.08) ? liar(random, endsAtMs) : []),
  ];
}

/** A process stands still in the middle of its work, for less or more than a Lease lasts. */
function freezes(random: Random, endsAtMs: number, slots: number): readonly WorldEvent[] {
  return Array.from({ length: random.between(1, 4) }, (): WorldEvent => {
    const isCloud = random.chance(0.6);
    return {
      atMs: random.between(0, endsAtMs),
      kind: "freeze",
      slot: random.between(0, slots - 1),
      skip: random.between(0, 5),
      ms: random.pick([3000, 12_000, 20_000, 60_000]),
      side: isCloud ? "cloud" : "cluster",
      operation: isCloud ? random.pick(["list", "get", "*"]) : random.pick(["list-nodes", "read-node", "status", "*"]),
    };
  });
}

/** Creations whose answers are lost, while somebody else buys, too; and what comes of the pool afterwards. */
function lostAnswers(random: Random, endsAtMs: number): readonly WorldEvent[] {
  const atMs = random.chance(0.6) ? 0 : random.between(0, endsAtMs);
  const name = random.pick(POOLS);
  const laterMs = atMs + random.between(3, 40) * 1000;
  const others = Array.from(
    { length: random.between(0, 2) },
    (): WorldEvent => ({ atMs: atMs + random.between(1, 12) * 1000, kind: "other-buys", on: null }),
  );
  const ends: readonly WorldEvent[] = [
    { atMs: laterMs, kind: "delete-pool", name },
    { atMs: laterMs, kind: "edit", name, spec: { desiredIPs: 1 } },
  ];
  return [
    {
      atMs,
      kind: "fault",
      how: random.pick(["timeout-after", "500-after", "malformed-after"]),
      times: random.between(1, 3),
      side: "cloud",
      operation: "create",
    },
    ...others,
    ...(random.chance(0.7) ? [{ atMs: atMs + 1, kind: "edit", name, spec: { reclaimPolicy: "Delete" } } as const] : []),
    ...(random.chance(0.7) ? [random.pick(ends)] : []),
  ];
}

/** More addresses are asked for than may be bought in a minute. */
function manyAtOnce(random: Random, endsAtMs: number): readonly WorldEvent[] {
  const atMs = random.between(0, endsAtMs / 2);
  const spec = { provider: "digitalocean", region: "nyc3", desiredIPs: 9 };
  return [
    { atMs, kind: "cloud", quota: 100 },
    ...POOLS.flatMap((name): readonly WorldEvent[] => [
      { atMs, kind: "edit", name, spec },
      { atMs, kind: "pool", name, spec },
    ]),
  ];
}

/** Nodes that match and are not where their labels say, so that they can take nothing, while actions fail for the others. */
function liar(random: Random, endsAtMs: number): readonly WorldEvent[] {
  const atMs = random.chance(0.7) ? 0 : random.between(0, endsAtMs);
  const liars = ["n0", "n00"].slice(0, random.between(1, 2)).flatMap((name, index): readonly WorldEvent[] => [
    { atMs, kind: "droplet", id: 150 + index, region: "fra1" },
    { atMs, kind: "node", name, droplet: 150 + index, region: "nyc3", isReady: true, role: "edge" },
    { atMs, kind: "pod", node: name, isReady: true },
  ]);
  return [...liars, { atMs: atMs + random.between(0, 3) * 1000, kind: "cloud", failActions: random.between(2, 6) }];
}
