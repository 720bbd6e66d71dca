import type { WorldEvent } from "./history.ts";
import type { Random } from "./random.ts";
import { RECORD_SETS } from "./random-dns.ts";
import { POOLS } from "./random-pool.ts";

/** What befalls machines, clocks and the memory of runs beside all else, and who looks on meanwhile. */
export function mishaps(random: Random, endsAtMs: number, slots: number): readonly WorldEvent[] {
  const times = random.pick([0, 0, 2, 5]);
  return Array.from({ length: times }, (): WorldEvent => {
    const atMs = random.between(1, endsAtMs);
    const slot = random.between(0, slots - 1);
    const pick = random.between(0, 99);
    const how = random.pick(["lose", "future"] as const);
    const roll = random.between(1, 100);
    if (roll <= 15) return { atMs, kind: "kill", slot };
    if (roll <= 35) return { atMs, kind: "leap", slot, ms: random.pick([-600_000, -30_000, 30_000, 600_000]) };
    if (roll <= 50) return { atMs, kind: "read", skewMs: random.pick([0, 0, -300_000, 300_000]) };
    if (roll <= 60) return { atMs, kind: "spoil-lease", how: random.pick(["lose", "garbage", "future"]) };
    if (roll <= 70)
      return { atMs, kind: "stale", times: random.between(1, 3), isPartial: true, side: "cloud", operation: "list" };
    if (roll <= 88) return { atMs, kind: "spoil-status", object: "pools", name: random.pick(POOLS), how, pick };
    return { atMs, kind: "spoil-status", object: "recordSets", name: random.pick(RECORD_SETS), how, pick };
  });
}
