import type { WorldEvent } from "./history.ts";
import type { Random } from "./random.ts";

/** A node, mostly with its droplet and a pod; a node of that name is replaced. */
export function nodeEvents(random: Random, index: number, droplet: number, atMs: number): readonly WorldEvent[] {
  const region = random.chance(0.92) ? "nyc3" : "fra1";
  const name = `n${index}`;
  return [
    ...(random.chance(0.96) ? [{ atMs, kind: "droplet", id: droplet, region } as const] : []),
    {
      atMs,
      kind: "node",
      name,
      droplet: random.chance(0.95) ? droplet : null,
      region,
      isReady: random.chance(0.85),
      role: random.chance(0.8) ? "edge" : "other",
    },
    ...(random.chance(0.8) ? [{ atMs, kind: "pod", node: name, isReady: random.chance(0.9) } as const] : []),
  ];
}

/** A node that becomes unready, and mostly comes back soon. */
export function flap(random: Random, name: string, atMs: number): readonly WorldEvent[] {
  if (random.chance(0.4)) return [{ atMs, kind: "ready", name, value: random.chance(0.5) }];
  const backMs = atMs + random.pick([500, 3000, 12_000, 40_000]);
  return [
    { atMs, kind: "ready", name, value: false },
    { atMs: backMs, kind: "ready", name, value: true },
  ];
}
