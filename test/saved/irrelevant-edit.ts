import type { Address, AddressFact } from "../../src/model/address.ts";
import type { Observation } from "../../src/model/observation.ts";
import { aNode, aPool } from "../plan/builders.ts";

/** Changes that no action depends on: what a cluster does all day, and what others do in it. */
const EDITS: readonly ((world: Observation, next: () => number) => Observation)[] = [
  (world, next) => onNode(world, next, { resourceVersion: String(Math.floor(next() * 1_000_000)) }),
  (world, next) =>
    onNode(world, next, { labels: { "topology.kubernetes.io/region": "", "example.com/team": `t${next()}` } }),
  (world) => ({ ...world, nodes: world.nodes.toReversed() }),
  (world) => ({ ...world, pools: world.pools.toReversed(), recordSets: world.recordSets.toReversed() }),
  (world, next) => {
    const name = `other-${Math.floor(next() * 1_000_000)}`;
    const droplet = 5000 + Math.floor(next() * 100_000);
    return { ...world, nodes: [...world.nodes, aNode({ name, droplet, ready: { isReady: false } })] };
  },
  (world, next) => {
    const pool = aPool({ name: `other-${Math.floor(next() * 1_000_000)}`, spec: { provider: "nobody" } });
    return { ...world, pools: [...world.pools, pool] };
  },
  (world) => onObjects(world, ({ meta }) => ({ meta: { ...meta, resourceVersion: `${meta.resourceVersion}1` } })),
  (world, next) => onObjects(world, ({ meta }) => ({ meta: { ...meta, labels: { team: `t${next()}` } } })),
  // Whether an object that is being deleted goes with the last thing done for it, or is kept by somebody else, matters.
  (world) =>
    onObjects(world, ({ meta }) => {
      const others = meta.isDeleting ? [] : ["example.com/other"];
      return { meta: { ...meta, finalizers: [...meta.finalizers, ...others] } };
    }),
  (world, next) => {
    const ip = `198.18.${Math.floor(next() * 256)}.${Math.floor(next() * 256)}`;
    const providers = [...world.providers].map(([name, facts]) => {
      const address: Address = { ip, region: "ams3", holderID: "77777", isLocked: false };
      const fact: AddressFact = { kind: "known", address };
      return [name, { ...facts, addresses: new Map([...facts.addresses, [ip, fact]]) }] as const;
    });
    return { ...world, providers: new Map(providers) };
  },
  (world) => ({ ...world, pods: new Map([...world.pods, ["other|app=x", { kind: "read", byNode: new Map() }]]) }),
  (world) => ({ ...world, observedAtMs: world.observedAtMs + 1, nodesReadAtMs: world.nodesReadAtMs + 1 }),
];

/** Returns the world after one change at random that matters to nothing. */
export function irrelevantEdit(world: Observation, next: () => number): Observation {
  const edit = EDITS[Math.floor(next() * EDITS.length)];
  return edit === undefined ? world : edit(world, next);
}

function onNode(world: Observation, next: () => number, change: Partial<Observation["nodes"][number]>): Observation {
  const place = Math.floor(next() * world.nodes.length);
  const changed = (node: Observation["nodes"][number]): Observation["nodes"][number] => ({
    ...node,
    ...change,
    // What a region label says matters.
    labels: change.labels === undefined ? node.labels : { ...change.labels, ...node.labels },
  });
  return { ...world, nodes: world.nodes.map((node, at) => (at === place ? changed(node) : node)) };
}

function onObjects(
  world: Observation,
  change: <O extends Observation["pools"][number] | Observation["recordSets"][number]>(object: O) => Pick<O, "meta">,
): Observation {
  return {
    ...world,
    pools: world.pools.map((pool) => ({ ...pool, ...change(pool) })),
    recordSets: world.recordSets.map((set) => ({ ...set, ...change(set) })),
  };
}
