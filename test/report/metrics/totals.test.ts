import { describe, expect, test } from "vitest";
import { CALL_BOUNDS, FAILOVER_BOUNDS, histogramOf } from "../../../src/model/meter.ts";
import { addRun, addressKey, readTotals, writeTotals } from "../../../src/report/metrics/totals.ts";
import { aQuietRun } from "../runs.ts";
import { aToldRun } from "./told-run.ts";

const NONE = readTotals(undefined);

describe("the totals", () => {
  test("count calls, durations, changes, assignments, errors and failovers over runs", () => {
    const twice = addRun(addRun(NONE, aToldRun(), true), aToldRun(), true);
    expect(twice.calls).toEqual({ "digitalocean assign error": 2, "digitalocean list success": 4 });
    expect(twice.durations["digitalocean list"]).toEqual(histogramOf([0.02, 12, 0.02, 12], CALL_BOUNDS));
    expect(twice.changes["move-ip failed"]).toBe(2);
    expect(twice.assignments).toEqual({ "ingress/web 203.0.113.10": 2, "routedip/ingress/web 203.0.113.50": 2 });
    expect(twice.assignmentErrors).toEqual({ "ingress/web 203.0.113.10": 2 });
    expect(twice.failovers).toEqual(histogramOf([61.5, 61.5], FAILOVER_BOUNDS));
  });

  test("come back from the Lease as they were", () => {
    const totals = addRun(NONE, aToldRun(), true);
    expect(readTotals(writeTotals(totals))).toEqual(totals);
  });

  test("are written the same however they came together", () => {
    const totals = addRun(NONE, aToldRun(), true);
    const reversed = { ...totals, calls: Object.fromEntries(Object.entries(totals.calls).reverse()) };
    expect(writeTotals(reversed)).toBe(writeTotals(totals));
  });

  test("of a pool and of a routed IP of the same name stay apart, also for one address", () => {
    const ip = "203.0.113.10";
    const ref = { namespace: "ingress", name: "web" };
    expect(addressKey({ kind: "pool", ...ref }, ip)).toBe("ingress/web 203.0.113.10");
    expect(addressKey({ kind: "routedip", ...ref }, ip)).toBe("routedip/ingress/web 203.0.113.10");
  });

  test("forget an address that no pool has any more, after a run over everything only", () => {
    const before = { ...NONE, assignments: { "ingress/gone 203.0.113.99": 7, "ingress/web 203.0.113.10": 1 } };
    const quiet = { result: aQuietRun(), meters: [] };
    expect(addRun(before, quiet, true).assignments).toEqual({ "ingress/web 203.0.113.10": 1 });
    expect(addRun(before, quiet, false).assignments).toEqual(before.assignments);
  });

  test.for([
    ["nothing", ""],
    ["no JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["values that are no counts", '{"calls":{"a b c":-1,"d e f":"2","g h i":1.5},"assignments":3}'],
    [
      "a histogram of other bounds",
      '{"failovers":{"counts":[1,2],"sum":3},"durations":{"a b":{"counts":[1],"sum":1}}}',
    ],
    ["a histogram without counts", '{"failovers":{"sum":3},"durations":{"a b":{"counts":"x","sum":1},"c d":null}}'],
    ["a negative sum", `{"failovers":{"counts":${JSON.stringify(NONE.failovers.counts)},"sum":-1}}`],
  ] as const)("count from 0 where the annotation holds %s", ([, text]) => {
    expect(readTotals(text)).toEqual(NONE);
  });
});

describe("a histogram", () => {
  test.for([
    ["below the first bound", 0, 0],
    ["at a bound", 0.005, 0],
    ["above it", 0.0051, 1],
    ["above all", 10.1, 11],
  ] as const)("has a value %s in its bucket", ([, value, bucket]) => {
    expect(histogramOf([value], CALL_BOUNDS).counts.indexOf(1)).toBe(bucket);
  });
});
