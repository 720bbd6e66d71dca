import { summarizePods } from "../../src/model/pods.ts";
import { plan } from "../../src/plan/plan.ts";
import { timeFigure } from "./figure.ts";
import { type PlannerSize, plannerWorld } from "./planner-world.ts";
import type { Section } from "./table.ts";

const SMALL: PlannerSize = { nodes: 1000, pools: 10, recordSets: 0 };
const LARGE: PlannerSize = { nodes: 10_000, pools: 100, recordSets: 0 };
/** Ten times as many pools as before meet ten times as many nodes, and 2,000 names show them. */
const HUGE: PlannerSize = { nodes: 10_000, pools: 500, recordSets: 0 };
const RUNS = 9;

/** The planner alone, without a cluster: everything has to be decided, and how that grows with the world. */
export async function benchPlanner(): Promise<Section> {
  const target = { wanted: "< 1 s" };
  return {
    title: "Planner alone: every address is free and has to be placed, every name is empty",
    figures: [
      timeFigure("1,000 nodes, 10,000 pods, 10 pools, 100 addresses", measure(SMALL)),
      timeFigure("the same, a name for each pool and 10 record sets", measure({ ...SMALL, recordSets: 10 })),
      timeFigure("10,000 nodes, 100,000 pods, 100 pools, 1,000 addresses", measure(LARGE), target),
      timeFigure("the same, a name for each pool and 100 record sets", measure({ ...LARGE, recordSets: 100 }), target),
      timeFigure("10,000 nodes, 100,000 pods, 500 pools, 5,000 addresses", measure(HUGE), { wanted: "≤ 1.5 s" }),
      timeFigure("the same, 2,000 names", measure({ ...HUGE, recordSets: 1500 }), { wanted: "≤ 1.5 s" }),
      timeFigure("the same, after another plan, one node is different", again({ ...HUGE, recordSets: 1500 })),
    ],
  };
}

/** A plan that follows another one, as in a process that watches: only one node has changed since. */
function again(size: PlannerSize): number[] {
  const { observation, pods } = plannerWorld(size);
  const summaries = new Map(
    pods.map(([selector, list]) => [selector, { kind: "read", byNode: summarizePods(list) } as const]),
  );
  const world = { ...observation, pods: summaries };
  plan(world, {});
  return Array.from({ length: RUNS }, (_, run) => {
    const isReady = run % 2 === 1;
    const nodes = world.nodes.map((node, index) => (index === 0 ? { ...node, ready: { isReady } } : node));
    const startedAtMs = performance.now();
    plan({ ...world, nodes }, {});
    return performance.now() - startedAtMs;
  });
}

function measure(size: PlannerSize): number[] {
  const { observation, pods } = plannerWorld(size);
  return Array.from({ length: RUNS }, () => {
    const startedAtMs = performance.now();
    const summaries = new Map(
      pods.map(([selector, list]) => [selector, { kind: "read", byNode: summarizePods(list) } as const]),
    );
    const { actions } = plan({ ...observation, pods: summaries }, {});
    const ms = performance.now() - startedAtMs;
    const names = size.recordSets === 0 ? 0 : size.pools + size.recordSets;
    const expected = 2 * 10 * size.pools + names;
    if (actions.length !== expected) throw new Error(`planned ${actions.length} actions instead of ${expected}`);
    return ms;
  });
}
