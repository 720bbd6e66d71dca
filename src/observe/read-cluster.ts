import { parseLabelSelector } from "../model/label-selector.ts";
import { type PodSelector, podSelectorKey } from "../model/node.ts";
import type { Observation, PodSummary } from "../model/observation.ts";
import type { Pool, RecordSet } from "../model/resource.ts";
import type { ClusterReader } from "../ports/cluster.ts";
import { listRecordSets } from "./list-record-sets.ts";
import { summarizePods } from "./summarize-pods.ts";

/** The lists of one cluster; `missing` as {@link Observation.recordSetsMissing}. */
export interface ClusterLists extends Pick<Observation, "pools" | "recordSets" | "nodes" | "nodesReadAtMs" | "pods"> {
  readonly missing: string | undefined;
}

/**
 * Lists objects, nodes, and the pods that some selector asks for.
 * @throws KubeError when any list fails: part of a cluster is never returned.
 */
export async function readCluster(cluster: ClusterReader): Promise<ClusterLists> {
  const [pools, { recordSets, missing }, { nodes, nodesReadAtMs }] = await Promise.all([
    cluster.listPools(),
    listRecordSets(cluster),
    readNodes(cluster),
  ]);
  const pods = await readPods(cluster, [...pools, ...recordSets]);
  return { pools, recordSets, missing, nodes, nodesReadAtMs, pods };
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

/** What has a `spec.match`. */
type Matching = Pool | RecordSet;

function podSelectors(objects: readonly Matching[]): readonly PodSelector[] {
  const selectors = objects
    .map(({ spec }) => ({ namespace: spec.match.podNamespace, label: spec.match.podLabel }))
    .filter(({ namespace, label }) => (namespace !== "" || label !== "") && "selector" in parseLabelSelector(label));
  return [...new Map(selectors.map((selector) => [podSelectorKey(selector), selector])).values()];
}
