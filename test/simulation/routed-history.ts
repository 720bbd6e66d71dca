import { generate } from "./generate.ts";
import type { FaultKind, History, WorldEvent } from "./history.ts";
import { Random } from "./random.ts";
import {
  endpointsEvent,
  ISSUERS,
  issuerSpec,
  ROUTED_IPS,
  routedHappening,
  routedIPSpec,
  serviceEvent,
} from "./random-routed.ts";

const CALLS = [
  "firewalls",
  "firewall",
  "firewall",
  "tagged",
  "open-ports",
  "close-ports",
  "add-machines",
  "remove-machines",
  "write",
  "write",
  "*",
] as const;
const CLUSTER_CALLS = [
  "routed-ip-status",
  "routed-ip-finalizer",
  "list-routed-ips",
  "list-issuers",
  "list-services",
] as const;
const FAULTS: readonly FaultKind[] = [
  "500",
  "500-after",
  "500-after",
  "timeout",
  "timeout-after",
  "malformed",
  "malformed-after",
  "404",
  "404",
  "422",
  "429",
  "401",
  "forbidden",
];

/**
 * The history of a seed in which RoutedIPs and their firewalls stand beside what {@link generate} makes of the seed, with fewer pools, so that nodes are left: seeds
 * of a kind of their own.
 */
export function routedHistory(seed: number): History {
  const random = new Random(seed ^ 0x7f4a7c15);
  const mayHaveDNS = random.chance(0.5);
  const base = generate(seed, mayHaveDNS);
  const pools = new Set(random.pick<readonly string[]>([[], [], ["p0"], ["p0"], ["p0", "p1", "p2"]]));
  const { endsAtMs, slots } = base;
  const events = [
    ...base.events.filter((event) => event.kind !== "pool" || pools.has(event.name)),
    ...setup(random, mayHaveDNS),
    ...Array.from({ length: random.pick([3, 8, 15, 30]) }, () => routedHappening(random, endsAtMs, mayHaveDNS)).flat(),
    ...faults(random, endsAtMs, slots.length),
  ];
  const own = slots.map(({ target: _target, ...slot }) => slot);
  return { ...base, slots: own, events: events.toSorted((a, b) => a.atMs - b.atMs) };
}

function setup(random: Random, mayHaveDNS: boolean): readonly WorldEvent[] {
  const atMs = 1;
  const droplets = [101, 102, 103, 901].filter(() => random.chance(0.15));
  return [
    ...["fw0", "fw1", "k8s-own"].map(
      (name): WorldEvent => ({
        atMs,
        kind: "firewall",
        name,
        open: ["tcp/22", ...(random.chance(0.25) ? ["tcp/30080"] : [])],
        droplets: name === "fw0" ? droplets : [],
      }),
    ),
    serviceEvent(random, "web", atMs),
    serviceEvent(random, "bare", atMs),
    endpointsEvent(random, atMs),
    ...ISSUERS.map((name): WorldEvent => ({ atMs, kind: "issuer", name, spec: issuerSpec(random) })),
    ...ROUTED_IPS.slice(0, random.between(1, 3)).map(
      (name): WorldEvent => ({ atMs, kind: "routed-ip", name, spec: routedIPSpec(random, mayHaveDNS) }),
    ),
  ];
}

function faults(random: Random, endsAtMs: number, slots: number): readonly WorldEvent[] {
  if (random.chance(0.2)) return [];
  return Array.from({ length: random.pick([2, 6, 15, 30]) }, (): WorldEvent => {
    const atMs = random.between(0, endsAtMs);
    const isCluster = random.chance(0.15);
    const match = isCluster
      ? ({ side: "cluster", operation: random.pick(CLUSTER_CALLS) } as const)
      : ({ side: "firewall", operation: random.pick(CALLS) } as const);
    const roll = random.between(1, 100);
    const slot = random.between(0, slots - 1);
    const skip = random.between(0, 4);
    if (roll <= 25) return { atMs, kind: "crash", slot, skip, isAfter: random.chance(0.5), ...match };
    if (roll <= 32) return { atMs, kind: "freeze", slot, skip, ms: random.pick([3000, 20_000]), ...match };
    if (roll <= 42 && !isCluster)
      return { atMs, kind: "stale", times: random.between(1, 3), side: "firewall", operation: "firewalls" };
    const how = isCluster
      ? random.pick(["500", "500-after", "timeout-after", "conflict"] as const)
      : random.pick(FAULTS);
    return { atMs, kind: "fault", how, times: random.pick([1, 1, 1, 2, 5]), ...match };
  });
}
