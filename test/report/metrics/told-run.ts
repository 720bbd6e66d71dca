import { CALL_BOUNDS, histogramOf } from "../../../src/model/histogram.ts";
import { LAST_SUCCESS_ANNOTATION } from "../../../src/model/lease-annotations.ts";
import type { MeterReading } from "../../../src/model/meter.ts";
import type { PassResult, RunEnd } from "../../../src/model/run.ts";
import { afterFailureWithDNS } from "../dns-world.ts";
import { applied, aRun, failed } from "../runs.ts";
import { NOW_MS } from "../world.ts";

/** What DigitalOcean's meter shows after a list and a failed assignment. */
const METER: MeterReading = {
  provider: "digitalocean",
  calls: [
    { operation: "assign", outcome: "error", count: 1 },
    { operation: "list", outcome: "success", count: 2 },
  ],
  durations: [
    { operation: "assign", seconds: histogramOf([1.5], CALL_BOUNDS) },
    { operation: "list", seconds: histogramOf([0.02, 12], CALL_BOUNDS) },
  ],
  rateLimit: { limit: 5000, remaining: 4990 },
};

/** A run in a world with names: one address could not be moved, the rest was done; one pool is suspended, one record set cools off and one has grace. */
export function aToldRun(changes: Partial<RunEnd> = {}): RunEnd {
  return {
    result: aResult(),
    endedAtMs: NOW_MS + 2500,
    durationMs: 2500,
    meters: [METER],
    notes: { [LAST_SUCCESS_ANNOTATION]: "2026-08-01T11:00:00Z" },
    ...changes,
  };
}

function aResult(): PassResult {
  const world = afterFailureWithDNS();
  const timing = { observeMs: 120, planMs: 5, applyMs: 900, reportMs: 30, failoverSeconds: [61.5] };
  const run = aRun(
    world,
    world,
    (action) => (action.kind === "move-ip" ? { ...failed(action), acceptedAtMs: NOW_MS } : applied(action)),
    { timing },
  );
  const [object] = run.remaining.pools.map((pool) => pool.object);
  if (object === undefined) throw new Error("the world has no pool");
  const hold = { object, subject: "203.0.113.30", detail: "", needsPerson: false, kind: "assign-ip" } as const;
  const holds = [
    ...run.remaining.holds,
    { ...hold, reason: "Grace", notBeforeMs: NOW_MS + 30_000 },
    { ...hold, reason: "Grace", notBeforeMs: NOW_MS + 10_000 },
    { ...hold, reason: "CoolOff", notBeforeMs: NOW_MS + 45_000 },
  ] as const;
  const gaps = [{ provider: "cloudflare", subject: "www.example.net", error: "timeout" }];
  return { ...run, remaining: { ...run.remaining, holds, gaps } };
}
