import type { FaultKind, WorldEvent } from "./history.ts";
import type { Random } from "./random.ts";

const CLOUD_CALLS = [
  "list",
  "get",
  "machine",
  "limit",
  "assign",
  "unassign",
  "create",
  "delete",
  "action",
  "*",
  "write",
] as const;
const CLUSTER_CALLS = [
  "list-pools",
  "list-nodes",
  "list-pods",
  "read-pool",
  "read-node",
  "read-lease",
  "status",
  "finalizer",
  "annotate",
  "event",
  "replace-lease",
  "create-lease",
  "*",
  "write",
] as const;
const CLOUD_FAULTS: readonly FaultKind[] = [
  "500",
  "500-after",
  "timeout",
  "timeout-after",
  "malformed",
  "malformed-after",
  "404",
  "409",
  "422",
  "422-pending",
  "429",
  "401",
];
const CLUSTER_FAULTS: readonly FaultKind[] = [
  "500",
  "500-after",
  "timeout",
  "timeout-after",
  "malformed",
  "conflict",
  "forbidden",
];

/** What fails over the time of a history: calls, processes, and a signal now and then. */
export function faultPlan(random: Random, endsAtMs: number, slots: number): readonly WorldEvent[] {
  if (random.chance(0.2)) return [];
  const made = Array.from({ length: random.pick([3, 10, 25, 50]) }, (): WorldEvent => {
    const atMs = random.between(0, endsAtMs);
    const isCloud = random.chance(0.65);
    const match = isCloud
      ? { side: "cloud" as const, operation: random.pick(CLOUD_CALLS) }
      : { side: "cluster" as const, operation: random.pick(CLUSTER_CALLS) };
    if (random.chance(0.3))
      return {
        atMs,
        kind: "crash",
        slot: random.between(0, slots - 1),
        skip: random.between(0, 6),
        isAfter: random.chance(0.5),
        ...match,
      };
    const how = random.pick(isCloud ? CLOUD_FAULTS : CLUSTER_FAULTS);
    return { atMs, kind: "fault", how, times: random.pick([1, 1, 1, 2, 5]), ...match };
  });
  const signals = random.chance(0.15)
    ? [{ atMs: random.between(0, endsAtMs), kind: "terminate", slot: 0 } as const]
    : [];
  return [...made, ...signals];
}
