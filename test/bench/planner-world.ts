import type { NodeFacts, PodFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool, RecordSet } from "../../src/model/resource.ts";
import { aNode, anObservation, aPool, known, NOW } from "../plan/builders.ts";
import { aRecordSet, dnsFacts } from "../plan/dns-builders.ts";

/** How big a world for the planner is; everything but the addresses of a pool grows with it. */
export interface PlannerSize {
  readonly nodes: number;
  /** Of ten addresses each. */
  readonly pools: number;
  /** Each of the nodes that one pool matches. With them every pool has a name as well; all names are empty so far. */
  readonly recordSets: number;
}

/** An observation without pods, and the pods by their selector. */
export interface PlannerWorld {
  readonly observation: Observation;
  readonly pods: readonly (readonly [string, readonly PodFacts[]])[];
}

/** Pools of ten addresses each. Ten pods run on every node, each of another pool, so that pools compete for nodes. Pure. */
export function plannerWorld({ nodes: nodeCount, pools: poolCount, recordSets: setCount }: PlannerSize): PlannerWorld {
  const nodes = numbers(nodeCount).map(node);
  const hasNames = setCount > 0;
  const pools = numbers(poolCount).map((number) => pool(number, hasNames));
  const recordSets = numbers(setCount).map((number) => recordSet(number, number % poolCount));
  const addresses = pools.flatMap(({ spec }) => spec.ips.map((ip) => known(ip)));
  const names = [...pools, ...recordSets].flatMap(({ spec }) => spec.dnsRecordSet?.recordName ?? []);
  const empty = Object.fromEntries(names.map((name) => [`${name}.example.com`, []]));
  const dns = hasNames ? [dnsFacts(empty)] : [];
  return {
    observation: anObservation({ pools, recordSets, nodes, addresses, dns }),
    pods: numbers(poolCount).map((number) => [`ns${number}|app=web`, podsOf(number, poolCount / 10, nodes)]),
  };
}

function node(index: number): NodeFacts {
  const addresses = [{ type: "ExternalIP", address: `10.${128 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}` }];
  return aNode({ name: `n${index}`, droplet: index + 1, addresses });
}

function podsOf(pool: number, groups: number, nodes: readonly NodeFacts[]): readonly PodFacts[] {
  const hosts = nodes.filter((_, index) => index % groups === pool % groups);
  return hosts.map(({ name }) => ({
    namespace: `ns${pool}`,
    name: `web-${name}`,
    nodeName: name,
    phase: "Running",
    ready: { isReady: true, sinceMs: NOW - 60_000 },
  }));
}

function pool(number: number, hasName: boolean): Pool {
  const ips = numbers(10).map((index) => `10.${number >> 8}.${number & 255}.${index}`);
  const dns = hasName ? { dnsRecordSet: name(`web${number}`) } : {};
  return aPool({ name: `web${number}`, createdAtMs: NOW - number, spec: { ips, match: matchOf(number), ...dns } });
}

function recordSet(number: number, pool: number): RecordSet {
  const spec = { dnsRecordSet: name(`nodes${number}`), match: matchOf(pool) };
  return aRecordSet({ name: `nodes${number}`, createdAtMs: NOW - number, spec });
}

function matchOf(pool: number): Pool["spec"]["match"] {
  return { nodeLabel: "", podNamespace: `ns${pool}`, podLabel: "app=web", tolerations: [] };
}

function name(recordName: string): RecordSet["spec"]["dnsRecordSet"] {
  return { provider: "digitalocean", zone: "example.com", recordName, ttlSeconds: 60 };
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
