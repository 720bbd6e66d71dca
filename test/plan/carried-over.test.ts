import { expect, test } from "vitest";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation, PodSummary } from "../../src/model/observation.ts";
import { plan } from "../../src/plan/plan.ts";
import { plannerWorld } from "../bench/planner-world.ts";
import { NOW } from "./builders.ts";
import { randomDNSWorld } from "./random-dns-world.ts";
import { random, randomWorld } from "./random-world.ts";

type Change = (node: NodeFacts, next: () => number) => NodeFacts;

const TAINT = { key: "dedicated", value: "", effect: "NoSchedule" } as const;

/** What happens to a node. */
const CHANGES: readonly Change[] = [
  (node) => ({ ...node }),
  (node) => ({ ...node, ready: { isReady: !node.ready.isReady, sinceMs: NOW - 1000 } }),
  (node) => ({ ...node, ready: { isReady: false, sinceMs: NOW - 500 } }),
  (node) => ({ ...node, isDeleting: !node.isDeleting }),
  (node) => ({ ...node, taints: node.taints.length === 0 ? [TAINT] : [] }),
  (node) => ({ ...node, taints: [{ ...TAINT, timeAddedMs: NOW - 29_000 }] }),
  (node) => ({ ...node, labels: { ...node.labels, "topology.kubernetes.io/region": "fra1", role: "web" } }),
  (node) => ({ ...node, labels: {} }),
  (node) => ({ ...node, providerID: node.providerID === "" ? "digitalocean://107" : "" }),
  (node) => ({ ...node, addresses: [{ type: "ExternalIP", address: "192.0.2.77" }] }),
  ({ unreadable, ...node }) => (unreadable === undefined ? { ...node, unreadable: "status.conditions" } : node),
];

/** Changes a world by chance: most often one or two nodes, sometimes their number, pods, an object or the time. */
function changed(world: Observation, next: () => number): Observation {
  const any = (length: number): number => Math.floor(next() * length);
  const nodes = [...world.nodes];
  for (let left = 1 + any(2); left > 0; left -= 1) {
    const at = any(nodes.length);
    const [node, change] = [nodes[at], CHANGES[any(CHANGES.length)]];
    if (node !== undefined && change !== undefined) nodes[at] = change(node, next);
  }
  if (next() < 0.1 && nodes.length > 2) nodes.splice(any(nodes.length), 1);
  const pods = new Map(
    [...world.pods].map(([selector, read]) =>
      read.kind === "read" && next() < 0.2
        ? [selector, { ...read, byNode: otherPods(read.byNode, any) }]
        : [selector, read],
    ),
  );
  const observedAtMs = world.observedAtMs + (next() < 0.5 ? 0 : 1000 * any(40));
  const pools = world.pools.map((pool) =>
    next() < 0.1 ? { ...pool, spec: { ...pool.spec, desiredIPs: any(4), gracePeriodSeconds: 30 * any(2) } } : pool,
  );
  const recordSets = world.recordSets.map((set) =>
    next() < 0.1 ? { ...set, spec: { ...set.spec, gracePeriodSeconds: 30 * any(2) } } : set,
  );
  return { ...world, nodes, pods, pools, recordSets, observedAtMs, nodesReadAtMs: observedAtMs };
}

function otherPods(
  byNode: ReadonlyMap<string, PodSummary>,
  any: (length: number) => number,
): ReadonlyMap<string, PodSummary> {
  const other = new Map(byNode);
  const name = [...byNode.keys()][any(byNode.size)];
  if (name !== undefined) other.delete(name);
  return other;
}

/** The same world of which nothing is known: no part of it was in a plan before. */
function unknown({ registry, ...world }: Observation): Observation {
  return { ...structuredClone(world), registry };
}

/** A small world with all that the bench has: pods, names, pools that compete. */
function benchWorld(): Observation {
  const { observation, pods } = plannerWorld({ nodes: 20, pools: 10, recordSets: 5 });
  const summaries = pods.map(
    ([selector, list]): [string, Observation["pods"] extends ReadonlyMap<string, infer R> ? R : never] => [
      selector,
      { kind: "read", byNode: new Map(list.map(({ nodeName }) => [nodeName, { ready: 1, notReady: 0 }])) },
    ],
  );
  return { ...observation, pods: new Map(summaries) };
}

test.each([
  ["pools", randomWorld],
  ["names", randomDNSWorld],
  ["pods", benchWorld],
] as const)("a plan that follows others is, byte for byte, what it is by itself: worlds of %s", (_, worldOf) => {
  let different = 0;
  for (let seed = 1; seed <= 12; seed += 1) {
    const next = random(seed);
    let world: Observation = worldOf(seed);
    let last = JSON.stringify(plan(world, {}));
    for (let step = 1; step <= 8; step += 1) {
      world = changed(world, next);
      const warm = JSON.stringify(plan(world, {}));
      expect(warm, `seed ${seed}, step ${step}`).toBe(JSON.stringify(plan(unknown(world), {})));
      // What was known of the lists before stays true of them.
      expect(JSON.stringify(plan(world, {}))).toBe(warm);
      if (warm !== last) different += 1;
      last = warm;
    }
  }
  expect(different).toBeGreaterThan(40);
});
