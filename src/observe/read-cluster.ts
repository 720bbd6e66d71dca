import { parseLabelSelector } from "../model/label-selector.ts";
import { type PodSelector, podSelectorKey } from "../model/node.ts";
import type { Observation, PodSummary } from "../model/observation.ts";
import type { Pool, RecordSet } from "../model/resource.ts";
import { endpointsKey } from "../model/service.ts";
import { summarizeEndpoints, summarizePods } from "../plan/pod-summary.ts";
import type { ClusterReader } from "../ports/cluster.ts";
import { listRecordSets } from "./list-record-sets.ts";
import { readRoutedIPs } from "./read-routed-ips.ts";

/** The lists of one cluster, as an {@link Observation} has them. */
export type ClusterLists = Pick<
  Observation,
  "pools" | "recordSets" | "missingKinds" | "nodes" | "nodesReadAtMs" | "pods"
>;

/**
 * Lists objects, nodes, and the pods that some selector asks for.
 * @throws KubeError when any list fails: part of a cluster is never returned.
 */
export async function readCluster(cluster: ClusterReader): Promise<ClusterLists> {
  const [floating, sets, routed, { nodes, nodesReadAtMs }] = await Promise.all([
    cluster.listPools(),
    listRecordSets(cluster),
    readRoutedIPs(cluster),
    readNodes(cluster),
  ]);
  const pools = [...floating, ...routed.pools];
  const { recordSets } = sets;
  const pods = new Map([
    ...(await readPods(cluster, [...pools, ...recordSets])),
    ...(await readEndpoints(cluster, pools)),
  ]);
  const missing = [...(sets.missing ?? []), ...(routed.missing ?? [])];
  return { pools, recordSets, missingKinds: missing, nodes, nodesReadAtMs, pods };
}

/** The time is taken after the answer: before a first one nothing is known of the API server's clock. */
async function readNodes(cluster: ClusterReader): Promise<Pick<Observation, "nodes" | "nodesReadAtMs">> {
  const nodes = await cluster.listNodes();
  return { nodes, nodesReadAtMs: cluster.now() };
}

/** Lists each distinct pod selector once, one after another, so that at most one page of pods is in memory per list. */
async function readPods(cluster: ClusterReader, objects: readonly Matching[]): Promise<Observation["pods"]> {
  const pods = new Map<string, ReadonlyMap<string, PodSummary>>();
  for (const selector of podSelectors(objects)) {
    pods.set(podSelectorKey(selector), summarizePods(await cluster.listPods(selector)));
  }
  return pods;
}

/** The endpoints of each Service without selector that stands in for a selector, once. */
async function readEndpoints(cluster: ClusterReader, pools: readonly Pool[]): Promise<Observation["pods"]> {
  const services = new Map(
    pools.flatMap(({ endpoints }) => (endpoints === undefined ? [] : [[endpointsKey(endpoints), endpoints]])),
  );
  const read = [...services].map(
    async ([key, service]) => [key, summarizeEndpoints(await cluster.listEndpointSlices(service))] as const,
  );
  return new Map(await Promise.all(read));
}

/** What has a `spec.match`. */
type Matching = Pool | RecordSet;

function podSelectors(objects: readonly Matching[]): readonly PodSelector[] {
  const selectors = objects
    .map(({ spec }) => ({ namespace: spec.match.podNamespace, label: spec.match.podLabel }))
    .filter(({ namespace, label }) => (namespace !== "" || label !== "") && "selector" in parseLabelSelector(label));
  return [...new Map(selectors.map((selector) => [podSelectorKey(selector), selector])).values()];
}
