import { describe, expect, test } from "vitest";
import type { Hold, Plan } from "../../src/model/plan.ts";
import type { Reason } from "../../src/model/reason.ts";
import type { PassResult } from "../../src/model/run.ts";
import { exitCodeOfPlan, exitCodeOfRun } from "../../src/report/exit-code.ts";
import { aDNSHold, aDNSPlan, aDNSWrite, aRecordSetAssessment, NODES, PUBLISHED, WEB } from "./dns-plans.ts";
import { failed, NO_TIME } from "./runs.ts";

/** What is held of the record set, and the code when it is alone, and beside a served pool. */
const HOLD_ROWS: readonly (readonly [Reason, Partial<Hold>, number, number])[] = [
  ["InvalidSpec", { kind: "reconcile" }, 78, 3],
  ["SelectorRefused", { kind: "reconcile" }, 78, 3],
  ["PodsForbidden", { kind: "reconcile" }, 77, 3],
  ["InvalidDNS", {}, 78, 3],
  ["ZoneNotFound", {}, 78, 3],
  ["ProviderUnavailable", {}, 77, 3],
  ["RateLimited", {}, 75, 3],
  ["Unreadable", {}, 75, 3],
  ["Suspended", { kind: "reconcile" }, 0, 0],
  ["Conflict", {}, 0, 0],
  ["NothingToPublish", {}, 0, 0],
  ["Backoff", {}, 0, 0],
  ["Grace", { subject: "worker-1" }, 0, 0],
  ["RecordsRetained", { kind: "delete-dns" }, 0, 0],
  ["ProviderUnavailable", { kind: "delete-dns" }, 3, 3],
];

const codeOf = (plan: Plan): number => exitCodeOfPlan(plan, { detailed: true });

describe("the exit code of a plan with record sets", () => {
  test.for(HOLD_ROWS)(
    "when the record set is held for %s (%j) is %i alone and %i beside a served pool",
    ([reason, changes, alone, beside]) => {
      const holds = [aDNSHold({ reason, ...changes })];
      expect([codeOf(aDNSPlan({ holds, pools: [] })), codeOf(aDNSPlan({ holds }))]).toEqual([alone, beside]);
    },
  );

  test("is 3 when the only record set is in error by its status", () => {
    const recordSets = [aRecordSetAssessment({ status: { ...PUBLISHED, error: "owned by pool ingress/web" } })];
    expect(codeOf(aDNSPlan({ recordSets, pools: [] }))).toBe(3);
  });

  test.for([
    ["RateLimited", 75],
    ["Unreadable", 75],
    ["ProviderUnavailable", 3],
    ["InvalidDNS", 3],
    ["NothingToPublish", 0],
  ] as const)("when the name of the only pool is held for %s is %i, as its addresses go on", ([reason, code]) => {
    expect(codeOf(aDNSPlan({ recordSets: [], holds: [aDNSHold({ reason, object: WEB })] }))).toBe(code);
  });

  test("is 2 when only a name is to be changed", () => {
    expect(codeOf(aDNSPlan({ actions: [aDNSWrite()] }))).toBe(2);
  });
});

describe("the exit code of a run with record sets", () => {
  const run = (plan: Plan, failure: Parameters<typeof failed>[1]): PassResult => ({
    plan,
    outcomes: plan.actions.map((action) => failed(action, failure)),
    remaining: aDNSPlan({ pools: plan.pools, recordSets: plan.recordSets }),
    reportFailures: [],
    wasInterrupted: false,
    timing: NO_TIME,
  });
  const ofRecordSet = aDNSPlan({ pools: [], actions: [aDNSWrite({ object: NODES })] });
  const ofPool = aDNSPlan({ recordSets: [], actions: [aDNSWrite()] });

  test.for([
    ["a record set alone whose write was rate-limited", ofRecordSet, "rate-limited", 75],
    ["a record set alone whose write was forbidden", ofRecordSet, "forbidden", 77],
    ["a record set alone whose write was refused", ofRecordSet, "refused", 3],
    ["a record set beside a served pool", aDNSPlan({ actions: [aDNSWrite({ object: NODES })] }), "unavailable", 3],
    ["a pool alone whose name was rate-limited", ofPool, "rate-limited", 75],
    ["a pool alone whose name it may not write", ofPool, "forbidden", 3],
  ] as const)("for %s", ([, plan, failure, code]) => {
    expect(exitCodeOfRun(run(plan, failure), { partialOk: false })).toBe(code);
  });

  test("is 3 when the status of a record set could not be written and a pool is served", () => {
    const result = run(aDNSPlan(), "refused");
    const reportFailures = [{ object: NODES, what: "status", error: new TypeError("x") }] as const;
    expect(exitCodeOfRun({ ...result, reportFailures }, { partialOk: false })).toBe(3);
  });
});
