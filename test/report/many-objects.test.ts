import { expect, test } from "vitest";
import type { Action, ObjectRef } from "../../src/model/action.ts";
import type { Plan } from "../../src/model/plan.ts";
import { exitCodeOfPlan, exitCodeOfRun } from "../../src/report/exit-code.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { processorMs } from "../fake/own-time.ts";
import { aDNSHold, aDNSPlan, aDNSWrite, aRecordSetAssessment, NODES } from "./dns-plans.ts";
import { applied, aQuietRun } from "./runs.ts";

/** A plan in which each record set has a change and something that is held. */
function aPlanOf(count: number): Plan {
  const refs = Array.from({ length: count }, (_, at): ObjectRef => ({ ...NODES, name: `nodes-${at}` }));
  return aDNSPlan({
    recordSets: refs.map((object) => aRecordSetAssessment({ object })),
    actions: refs.map((object, at): Action => ({ ...aDNSWrite({ object }), id: `write ${at}` })),
    holds: refs.map((object) => aDNSHold({ object, reason: "RecordsRetained" })),
  });
}

test("six thousand objects with changes are told, and judged, within seconds of the processor", () => {
  const plan = aPlanOf(6000);
  const spentMs = processorMs(() => {
    expect(renderPlan(plan, { palette: PLAIN, all: false, wide: false })).toContain("nodes-5999");
    exitCodeOfPlan(plan, { detailed: false });
    exitCodeOfRun({ ...aQuietRun(), plan, remaining: plan, outcomes: plan.actions.map(applied) }, { partialOk: false });
  });
  expect(spentMs).toBeLessThan(5000);
});
