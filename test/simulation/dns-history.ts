import type { DNSProviderName, FaultKind, WorldEvent } from "./history.ts";
import type { Random } from "./random.ts";
import { dnsHappening, dnsSpec, RECORD_SETS, recordSetSpec } from "./random-dns.ts";
import { POOLS } from "./random-pool.ts";

const CALLS = ["zone", "records", "records", "add-record", "set-ttl", "remove-record", "write", "write", "*"] as const;
const FAULTS: readonly FaultKind[] = [
  "500",
  "500-after",
  "500-after",
  "timeout",
  "timeout-after",
  "malformed",
  "malformed-after",
  "409",
  "422",
  "429",
  "401",
  "forbidden",
];

/** What makes a history one of names, too: pools that publish, record sets, people who edit both and records by hand, and calls that fail. */
export function dnsHistory(random: Random, endsAtMs: number, slots: number): readonly WorldEvent[] {
  const atMs = 0;
  const publishing = POOLS.filter(() => random.chance(0.6)).map(
    (name): WorldEvent => ({ atMs: 1, kind: "edit", name, spec: { dnsRecordSet: dnsSpec(random) } }),
  );
  const deleting = POOLS.filter(() => random.chance(0.4)).map(
    (name): WorldEvent => ({ atMs: 1, kind: "edit", name, spec: { reclaimPolicy: "Delete" } }),
  );
  const sets = RECORD_SETS.slice(0, random.between(0, 3)).map(
    (name): WorldEvent => ({ atMs, kind: "record-set", name, spec: recordSetSpec(random) }),
  );
  const happenings = Array.from({ length: random.pick([2, 6, 14, 25]) }, () => dnsHappening(random, endsAtMs)).flat();
  return [...publishing, ...deleting, ...sets, ...happenings, ...dnsFaults(random, endsAtMs, slots)];
}

function dnsFaults(random: Random, endsAtMs: number, slots: number): readonly WorldEvent[] {
  if (random.chance(0.2)) return [];
  return Array.from({ length: random.pick([2, 6, 15, 30]) }, (): WorldEvent => {
    const atMs = random.between(0, endsAtMs);
    const provider = random.pick<DNSProviderName | "any">(["digitalocean", "cloudflare", "any"]);
    const match = {
      side: "dns" as const,
      operation: random.pick(CALLS),
      ...(provider === "any" ? {} : { provider }),
    };
    const roll = random.between(1, 100);
    const slot = random.between(0, slots - 1);
    const skip = random.between(0, 4);
    if (roll <= 25) return { atMs, kind: "crash", slot, skip, isAfter: random.chance(0.5), ...match };
    if (roll <= 32) return { atMs, kind: "freeze", slot, skip, ms: random.pick([3000, 20_000]), ...match };
    if (roll <= 40) return { atMs, kind: "stale", times: random.between(1, 3), ...match };
    return { atMs, kind: "fault", how: random.pick(FAULTS), times: random.pick([1, 1, 1, 2, 5]), ...match };
  });
}
