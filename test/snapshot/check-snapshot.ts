import { expect } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Selection } from "../../src/model/run.ts";
import { planWorld } from "../../src/reconcile.ts";
import { planDocument } from "../../src/report/json/plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { readSnapshot, type Snapshot, writeSnapshot } from "../../src/snapshot/snapshot.ts";

/** A world as it comes back from a snapshot's text. */
function throughText(observation: Observation): Snapshot {
  const stored = { pools: [], routedIPs: [], leaseKey: "flipop/flipop" };
  const text = JSON.stringify(writeSnapshot({ observation, stored }));
  return readSnapshot(JSON.parse(text), { name: observation.cluster, registry: observation.registry });
}

/** A snapshot of a world holds all that a plan is made of: the plan of what comes back is the same, as a document and as a text. */
export function checkSnapshot(observation: Observation, plan: Plan, selection: Selection): void {
  const { plan: again } = planWorld(throughText(observation).observation, selection);
  const layout = { palette: PLAIN, wide: true, all: true };
  expect(again.planID, "a snapshot plans as the world that it was taken of").toBe(plan.planID);
  expect(JSON.stringify(planDocument(again))).toBe(JSON.stringify(planDocument(plan)));
  expect(renderPlan(again, layout)).toBe(renderPlan(plan, layout));
}
