import { expect } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Selection } from "../../src/model/run.ts";
import { planWorld } from "../../src/reconcile.ts";
import { planDocument } from "../../src/report/json/plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { heldLabels, readSnapshot, type Snapshot, writeSnapshot } from "../../src/snapshot/snapshot.ts";

const stored = { pools: [], routedIPs: [], leaseKey: "flipop/flipop" };

/** The snapshot of a world. */
export function snapshotText(observation: Observation): string {
  return JSON.stringify(writeSnapshot({ observation, stored }));
}

/** A world as it comes back from a snapshot's text. Written once more it is the same text, byte for byte. */
function throughText(observation: Observation): Snapshot {
  const text = snapshotText(observation);
  const read = readSnapshot(JSON.parse(text), { name: observation.cluster, registry: observation.registry });
  expect(snapshotText(read.observation)).toBe(text);
  const held = heldLabels({ observation, stored });
  const nodes = observation.nodes.map((node) => ({
    ...node,
    labels: Object.fromEntries(Object.entries(node.labels).filter(([key]) => held.has(key))),
  }));
  expect(read.observation, "a snapshot holds all of a world, but for labels that nobody reads").toEqual({
    ...observation,
    nodes,
  });
  return read;
}

/** A snapshot of a world holds all that a plan is made of: the plan of what comes back is the same, as a document and as a text. */
export function checkSnapshot(observation: Observation, plan: Plan, selection: Selection): void {
  const { plan: again } = planWorld(throughText(observation).observation, selection);
  const layout = { palette: PLAIN, wide: true, all: true };
  expect(again.planID, "a snapshot plans as the world that it was taken of").toBe(plan.planID);
  expect(JSON.stringify(planDocument(again))).toBe(JSON.stringify(planDocument(plan)));
  expect(renderPlan(again, layout)).toBe(renderPlan(plan, layout));
}
