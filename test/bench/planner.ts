import type { PodFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import { summarizePods } from "../../src/observe/summarize-pods.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, aPool, known, NOW } from "../plan/builders.ts";
import { timeFigure } from "./figure.ts";
import type { Section } from "./table.ts";

const POOLS = 100;
const RUNS = 9;

/** The planner alone, without a cluster: everything has to be decided, and how that grows with the world. */
export async function benchPlanner(): Promise<Section> {
  const small = measure(0.1);
  const large = measure(1);
  return {
    title: "Planner alone: every address is free and has to be placed",
    figures: [
      timeFigure("1,000 nodes, 10,000 pods, 10 pools, 100 addresses", small),
      timeFigure("10,000 nodes, 100,000 pods, 100 pools, 1,000 addresses", large, { wanted: "< 1 s" }),
    ],
  };
}

function measure(scale: number): number[] {
  const { observation, pods } = world(scale);
  return Array.from({ length: RUNS }, () => {
    const startedAtMs = performance.now();
    const summaries = new Map(pods.map(([selector, list]) => [selector, summarizePods(list)]));
    const { actions } = plan({ ...observation, pods: summaries }, {});
    const ms = performance.now() - startedAtMs;
    const expected = 2 * 10 * POOLS * scale;
    if (actions.length !== expected) throw new Error(`planned ${actions.length} actions instead of ${expected}`);
    return ms;
  });
}

/** Pools of 10 addresses each. Ten pods run on every node, each of another pool, so that pools compete for nodes. */
function world(scale: number): {
  readonly observation: Observation;
  readonly pods: readonly (readonly [string, readonly PodFacts[]])[];
} {
  const nodes = Array.from({ length: 10_000 * scale }, (_, index) => aNode({ name: `n${index}`, droplet: index + 1 }));
  const poolNumbers = Array.from({ length: POOLS * scale }, (_, index) => index);
  const groups = poolNumbers.length / 10;
  const pods = poolNumbers.map((pool) => {
    const hosts = nodes.filter((_, index) => index % groups === pool % groups);
    const facts = hosts.map(({ name }) => ({
      namespace: `ns${pool}`,
      name: `web-${name}`,
      nodeName: name,
      phase: "Running",
      ready: { isReady: true, sinceMs: NOW - 60_000 },
    }));
    return [`ns${pool}|app=web`, facts] as const;
  });
  const pools = poolNumbers.map((pool) => {
    const ips = Array.from({ length: 10 }, (_, index) => `10.0.${pool}.${index}`);
    const match = { nodeLabel: "", podNamespace: `ns${pool}`, podLabel: "app=web", tolerations: [] };
    return aPool({ name: `web${pool}`, createdAtMs: NOW - pool, spec: { ips, match } });
  });
  const addresses = pools.flatMap(({ spec }) => spec.ips.map((ip) => known(ip)));
  return { observation: anObservation({ pools, nodes, addresses }), pods };
}
