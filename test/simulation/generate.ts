import type { FaultKind, History, Slot, WorldEvent } from "./history.ts";
import type { PoolSpecText } from "./pool-spec-text.ts";
import { Random } from "./random.ts";

type Timed = WorldEvent;

const POOLS = ["p0", "p1", "p2"] as const;
const LISTED = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4", "203.0.113.5"] as const;

/** The history of a seed: what the world is, what happens to it, and what fails. */
export function generate(seed: number): History {
  const random = new Random(seed);
  const hasLock = random.chance(0.8);
  const slots = Array.from({ length: hasLock && random.chance(0.4) ? 2 : 1 }, (): Slot => slot(random));
  const endsAtMs = random.between(40, 300) * 1000;
  const events = [...setup(random), ...happenings(random, endsAtMs), ...faults(random, endsAtMs, slots.length)];
  return {
    seed,
    hasLock,
    slots,
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

function setup(random: Random): readonly Timed[] {
  const atMs = 0;
  const nodes = random.between(2, 6);
  const events: Timed[] = [
    { atMs, kind: "cloud", delayMs: random.pick([0, 0, 300, 2000, 9000, 20_000]), lagMs: random.pick([0, 0, 0, 1000, 4000]), quota: random.pick([100, 100, 4, 2]) },
  ];
  for (let index = 1; index <= nodes; index += 1) events.push(...nodeEvents(random, index, 100 + index, atMs));
  for (const ip of LISTED.slice(0, random.between(1, LISTED.length))) {
    const on = random.chance(0.3) ? 100 + random.between(1, nodes) : null;
    events.push({ atMs, kind: "address", ip, on, region: random.chance(0.9) ? "nyc3" : "fra1", isBYOIP: random.chance(0.15) });
  }
  const pools = random.between(1, 3);
  for (const name of POOLS.slice(0, pools)) events.push({ atMs, kind: "pool", name, spec: poolSpec(random) });
  return events;
}

function nodeEvents(random: Random, index: number, droplet: number, atMs: number): readonly Timed[] {
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

function someIPs(random: Random): readonly string[] {
  const ips = LISTED.filter(() => random.chance(0.4));
  return random.chance(0.05) ? [...ips, "203.0.113.01"] : ips;
}

function poolSpec(random: Random): PoolSpecText {
  const ips = random.chance(0.7) ? someIPs(random) : [];
  const desiredIPs = random.chance(0.6) || ips.length === 0 ? random.between(1, 4) : 0;
  return {
    provider: "digitalocean",
    ...(random.chance(0.8) ? { region: "nyc3" } : {}),
    ...(ips.length > 0 ? { ips } : {}),
    ...(desiredIPs > 0 ? { desiredIPs } : {}),
    ...(random.chance(0.3) ? { assignmentCoolOffSeconds: random.pick([5, 20, 60]) } : {}),
    ...(random.chance(0.3) ? { gracePeriodSeconds: random.pick([5, 30, 90]) } : {}),
    ...(random.chance(0.5) ? { reclaimPolicy: random.pick(["Retain", "Delete"] as const) } : {}),
    ...(random.chance(0.4) ? { foreignHolder: random.pick(["Hold", "TakeOver"] as const) } : {}),
    ...(random.chance(0.05) ? { suspend: true } : {}),
    ...(random.chance(0.5) ? { match: match(random) } : {}),
  };
}

function match(random: Random): NonNullable<PoolSpecText["match"]> {
  return {
    ...(random.chance(0.6) ? { nodeLabel: "role=edge" } : {}),
    ...(random.chance(0.35) ? { podLabel: "app=web" } : {}),
  };
}

function happenings(random: Random, endsAtMs: number): readonly Timed[] {
  return Array.from({ length: random.between(2, 22) }, () => happening(random, random.between(1, endsAtMs))).flat();
}

function happening(random: Random, atMs: number): readonly Timed[] {
  const node = `n${random.between(1, 7)}`;
  const droplet = random.chance(0.9) ? 100 + random.between(1, 7) : random.between(901, 903);
  const name = random.pick(POOLS);
  const pick = random.between(0, 9);
  const roll = random.between(1, 100);
  if (roll <= 26) return flap(random, node, atMs);
  if (roll <= 31) return [{ atMs, kind: "cordon", name: node, value: random.chance(0.6) }];
  if (roll <= 34) return [{ atMs, kind: "role", name: node, value: random.pick(["edge", "other"]) }];
  if (roll <= 39) return [{ atMs, kind: "delete-node", name: node, isHeld: random.chance(0.3) }];
  if (roll <= 44) return nodeEvents(random, random.between(1, 7), random.chance(0.5) ? 200 + random.between(1, 9) : droplet, atMs);
  if (roll <= 47) return [{ atMs, kind: "remove-droplet", id: droplet }];
  if (roll <= 52) return [{ atMs, kind: "pod", node, isReady: random.chance(0.5) }];
  if (roll <= 54) return [{ atMs, kind: "delete-pod", node }];
  if (roll <= 70) return [{ atMs, kind: "edit", name, spec: specEdit(random) }];
  if (roll <= 73) return [{ atMs, kind: "delete-pool", name }];
  if (roll <= 76) return [{ atMs, kind: "pool", name, spec: poolSpec(random) }];
  if (roll <= 77) return [{ atMs, kind: "wipe-status", name }];
  if (roll <= 78) return [{ atMs, kind: "touch-status", name, lastAssignmentInMs: random.between(-60, 600) * 1000 }];
  if (roll <= 80) return [{ atMs, kind: "annotate", name: node, ...annotation(random) }];
  if (roll <= 87) return [{ atMs, kind: "hand-move", pick, to: random.chance(0.5) ? null : droplet }];
  if (roll <= 90) return [{ atMs, kind: "hand-delete", pick }];
  if (roll <= 93) return [{ atMs, kind: "other-buys", on: random.chance(0.5) ? null : droplet }];
  if (roll <= 95)
    return [
      { atMs, kind: "lock", pick, value: true },
      { atMs: atMs + random.between(1, 40) * 1000, kind: "lock", pick, value: false },
    ];
  if (roll <= 97) return [{ atMs, kind: "pending-event", droplet, ms: random.between(1, 30) * 1000 }];
  return [
    {
      atMs,
      kind: "cloud",
      delayMs: random.pick([0, 500, 5000, 20_000]),
      failActions: random.between(0, 2),
      lagMs: random.pick([0, 0, 2000]),
    },
    { atMs, kind: "droplet", id: droplet, region: "nyc3" },
  ];
}

function flap(random: Random, name: string, atMs: number): readonly Timed[] {
  if (random.chance(0.4)) return [{ atMs, kind: "ready", name, value: random.chance(0.5) }];
  const backMs = atMs + random.pick([500, 3000, 12_000, 40_000]);
  return [
    { atMs, kind: "ready", name, value: false },
    { atMs: backMs, kind: "ready", name, value: true },
  ];
}

function annotation(random: Random): { readonly address: string | null; readonly pool: string | null } {
  return {
    address: random.chance(0.3) ? null : random.pick([...LISTED, "198.51.100.1", "192.0.2.77"]),
    pool: random.pick([null, "shop/p0", "shop/p1", "shop/gone"]),
  };
}

function specEdit(random: Random): Readonly<Partial<Record<keyof PoolSpecText, unknown>>> {
  const roll = random.between(1, 11);
  if (roll <= 3) return { desiredIPs: random.between(0, 4) };
  if (roll <= 5) return { ips: someIPs(random) };
  if (roll === 6) return { assignmentCoolOffSeconds: random.pick([0, 5, 30]) };
  if (roll === 7) return { suspend: random.chance(0.5) };
  if (roll === 8) return { reclaimPolicy: random.pick(["Retain", "Delete"]) };
  if (roll === 9) return { foreignHolder: random.pick(["Hold", "TakeOver"]) };
  if (roll === 10) return { provider: random.pick(["nowhere", "digitalocean"]) };
  return { match: { nodeLabel: random.pick(["role=edge", "", "role in ("]), podLabel: random.pick(["app=web", ""]) } };
}

const CLOUD_CALLS = ["list", "get", "machine", "limit", "assign", "unassign", "create", "delete", "action", "*", "write"] as const;
const CLUSTER_CALLS = [
  "list-pools", "list-nodes", "list-pods", "read-pool", "read-node", "read-lease",
  "status", "finalizer", "annotate", "event", "replace-lease", "create-lease", "*", "write",
] as const;
const CLOUD_FAULTS: readonly FaultKind[] = ["500", "500-after", "timeout", "timeout-after", "malformed", "malformed-after", "404", "409", "422", "422-pending", "429", "401"];
const CLUSTER_FAULTS: readonly FaultKind[] = ["500", "500-after", "timeout", "timeout-after", "malformed", "conflict", "forbidden"];

function faults(random: Random, endsAtMs: number, slots: number): readonly Timed[] {
  if (random.chance(0.2)) return [];
  const made = Array.from({ length: random.between(1, 14) }, (): Timed => {
    const atMs = random.between(0, endsAtMs);
    const isCloud = random.chance(0.65);
    const match = isCloud
      ? { side: "cloud" as const, operation: random.pick(CLOUD_CALLS) }
      : { side: "cluster" as const, operation: random.pick(CLUSTER_CALLS) };
    if (random.chance(0.3))
      return { atMs, kind: "crash", slot: random.between(0, slots - 1), skip: random.between(0, 6), isAfter: random.chance(0.5), ...match };
    const how = random.pick(isCloud ? CLOUD_FAULTS : CLUSTER_FAULTS);
    return { atMs, kind: "fault", how, times: random.pick([1, 1, 1, 2, 5]), ...match };
  });
  const signals = random.chance(0.15) ? [{ atMs: random.between(0, endsAtMs), kind: "terminate", slot: 0 } as const] : [];
  return [...made, ...signals];
}
