import { expect, test } from "vitest";
import { LAST_SUCCESS_ANNOTATION } from "../../src/model/lease-annotations.ts";
import { reconcilerRow } from "../../src/report/reconciler.ts";

const NOW_MS = Date.parse("2026-08-01T12:00:00Z");

// An alarm that trusts a time which has not come is silent until it has.
test.for([
  ["2026-08-01T12:04:00Z", ""],
  ["2026-08-01T11:56:00Z", ""],
  ["2026-08-01T13:00:00Z", "the last successful run is noted for a time that comes in 1h: a clock was wrong"],
  ["2027-08-01T12:00:00Z", "the last successful run is noted for a time that comes in 365d: a clock was wrong"],
  ["2026-08-01T11:00:00Z", "the last successful run was 1h ago, more than 5m"],
] as const)("a last success at %s is judged at 12:00", ([time, problem]) => {
  const annotations = { [LAST_SUCCESS_ANNOTATION]: time };
  const lease = { holder: "", renewTimeMs: 0, annotations };
  expect(reconcilerRow({ nowMs: NOW_MS, leaseKey: "flipop/flipop", lease }, 300_000).problem).toBe(problem);
});
