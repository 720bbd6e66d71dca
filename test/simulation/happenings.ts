import type { WorldEvent } from "./history.ts";
import type { Random } from "./random.ts";
import { flap, nodeEvents } from "./random-nodes.ts";
import { LISTED, POOLS, poolSpec, specEdit } from "./random-pool.ts";

interface Choices {
  readonly atMs: number;
  readonly node: string;
  readonly droplet: number;
  readonly name: (typeof POOLS)[number];
  readonly pick: number;
}

type Make = (random: Random, choices: Choices) => readonly WorldEvent[];

/** What can happen to a world, with how often among a hundred. */
const KINDS: readonly (readonly [weight: number, make: Make])[] = [
  [26, (random, { node, atMs }) => flap(random, node, atMs)],
  [5, (random, { node, atMs }) => [{ atMs, kind: "cordon", name: node, value: random.chance(0.6) }]],
  [3, (random, { node, atMs }) => [{ atMs, kind: "role", name: node, value: random.pick(["edge", "other"]) }]],
  [5, (random, { node, atMs }) => [{ atMs, kind: "delete-node", name: node, isHeld: random.chance(0.3) }]],
  [
    5,
    (random, { droplet, atMs }) =>
      nodeEvents(random, random.between(1, 7), random.chance(0.5) ? 200 + random.between(1, 9) : droplet, atMs),
  ],
  [3, (_, { droplet, atMs }) => [{ atMs, kind: "remove-droplet", id: droplet }]],
  [5, (random, { node, atMs }) => [{ atMs, kind: "pod", node, isReady: random.chance(0.5) }]],
  [2, (_, { node, atMs }) => [{ atMs, kind: "delete-pod", node }]],
  [16, (random, { name, atMs }) => [{ atMs, kind: "edit", name, spec: specEdit(random) }]],
  [3, (_, { name, atMs }) => [{ atMs, kind: "delete-pool", name }]],
  [3, (random, { name, atMs }) => [{ atMs, kind: "pool", name, spec: poolSpec(random) }]],
  [1, (_, { name, atMs }) => [{ atMs, kind: "wipe-status", name }]],
  [
    1,
    (random, { name, atMs }) => [
      { atMs, kind: "touch-status", name, lastAssignmentInMs: random.between(-60, 600) * 1000 },
    ],
  ],
  [2, (random, { node, atMs }) => [{ atMs, kind: "annotate", name: node, ...annotation(random) }]],
  [
    7,
    (random, { pick, droplet, atMs }) => [{ atMs, kind: "hand-move", pick, to: random.chance(0.5) ? null : droplet }],
  ],
  [3, (_, { pick, atMs }) => [{ atMs, kind: "hand-delete", pick }]],
  [3, (random, { atMs }) => [{ atMs, kind: "other-buys", on: random.chance(0.5) ? null : random.between(901, 902) }]],
  [2, locked],
  [2, (random, { droplet, atMs }) => [{ atMs, kind: "pending-event", droplet, ms: random.between(1, 30) * 1000 }]],
  [3, slower],
];

/** What happens to the world over the time of a history, in no order. */
export function happenings(random: Random, endsAtMs: number): readonly WorldEvent[] {
  return Array.from({ length: random.pick([4, 12, 25, 40]) }, () => happening(random, endsAtMs)).flat();
}

function happening(random: Random, endsAtMs: number): readonly WorldEvent[] {
  const choices: Choices = {
    atMs: random.between(1, endsAtMs),
    node: `n${random.between(1, 7)}`,
    droplet: random.chance(0.9) ? 100 + random.between(1, 7) : random.between(901, 903),
    name: random.pick(POOLS),
    pick: random.between(0, 9),
  };
  let roll = random.between(1, 100);
  for (const [weight, make] of KINDS) {
    roll -= weight;
    if (roll <= 0) return make(random, choices);
  }
  return [];
}

function locked(random: Random, { atMs, pick }: Choices): readonly WorldEvent[] {
  return [
    { atMs, kind: "lock", pick, value: true },
    { atMs: atMs + random.between(1, 40) * 1000, kind: "lock", pick, value: false },
  ];
}

function slower(random: Random, { atMs, droplet }: Choices): readonly WorldEvent[] {
  const delayMs = random.pick([0, 500, 5000, 20_000]);
  return [
    { atMs, kind: "cloud", delayMs, failActions: random.between(0, 2), lagMs: random.pick([0, 0, 2000]) },
    { atMs, kind: "droplet", id: droplet, region: "nyc3" },
  ];
}

function annotation(random: Random): { readonly address: string | null; readonly pool: string | null } {
  return {
    address: random.chance(0.3) ? null : random.pick([...LISTED, "198.51.100.1", "192.0.2.77"]),
    pool: random.pick([null, "shop/p0", "shop/p1", "shop/gone"]),
  };
}
