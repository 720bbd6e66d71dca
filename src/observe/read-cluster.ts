import { isRequestRefusal, KubeError } from "../model/errors.ts";
import type { GrantFacts, GrantMode } from "../model/grants.ts";
import { isLabelValue, podSelectorProblem } from "../model/label-selector.ts";
import { nearestSelector } from "../model/nearest.ts";
import { type PodFacts, type PodSelector, podSelectorKey } from "../model/node.ts";
import type { Observation, PodReading, PodSummary } from "../model/observation.ts";
import { podsKeyOf, summarizeEndpoints, summarizePods } from "../model/pods.ts";
import { remembered } from "../model/remembered.ts";
import { objectKey, type Pool, type RecordSet, shownText } from "../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../model/routed-ip.ts";
import { endpointsKey, type ServiceFacts } from "../model/service.ts";
import { routedPool } from "../plan/addresses/routed-pool.ts";
import type { ClusterReader, PodLabelReader } from "../ports/cluster.ts";

/** The lists of one cluster, as an {@link Observation} has them. */
export type ClusterLists = Pick<
  Observation,
  "pools" | "recordSets" | "missingKinds" | "nodes" | "nodesReadAtMs" | "pods"
>;

/** Returns listed objects as they count. */
export type ListedObjects = <L extends Pick<Observation, "pools" | "recordSets">>(listed: L) => L;

/** What is listed, and how it counts; absent = as it is listed. */
interface Listing {
  readonly cluster: ClusterReader;
  readonly objects?: ListedObjects | undefined;
}

/**
 * Lists objects, nodes, and the pods that some selector asks for. A list of pods or endpoints that the API server refuses for
 * what it asks is in the result as refused: it concerns nobody but the objects that ask for it.
 * @throws KubeError when a list fails for any other reason: part of a cluster is never returned.
 */
export async function readCluster({ cluster, objects = (listed) => listed }: Listing): Promise<ClusterLists> {
  const [listed, nodes] = await Promise.all([listObjects(cluster), readNodes(cluster)]);
  const counting = { ...listed, ...objects(listed) };
  return { ...counting, ...nodes, pods: await readAllPods(cluster, counting) };
}

/**
 * Lists objects alone, as of a cluster in which nothing runs: what is wrong with their specs is seen without nodes and pods.
 * @throws KubeError as {@link readCluster}
 */
export async function readSpecs(cluster: ClusterReader): Promise<ClusterLists> {
  const objects = await listObjects(cluster);
  const nothing: PodReading = { kind: "read", byNode: new Map() };
  const keys = [...objects.pools, ...objects.recordSets].flatMap((object) => podsKeyOf(object) ?? []);
  return { ...objects, nodes: [], nodesReadAtMs: cluster.now(), pods: new Map(keys.map((key) => [key, nothing])) };
}

async function listObjects(
  cluster: ClusterReader,
): Promise<Pick<ClusterLists, "pools" | "recordSets" | "missingKinds">> {
  const [floating, sets, routed] = await Promise.all([
    cluster.listPools(),
    listRecordSets(cluster),
    readRoutedIPs(cluster),
  ]);
  return {
    pools: [...floating, ...routed.pools],
    recordSets: sets.recordSets,
    missingKinds: [...(sets.missing ?? []), ...(routed.missing ?? [])],
  };
}

/**
 * Lists what namespaces grant, once; not at all where there is no object. Who may not list them knows of no grant.
 * @throws KubeError when the list fails for any other reason
 */
export async function readGrants(
  cluster: ClusterReader,
  mode: GrantMode,
  { pools, recordSets }: Pick<Observation, "pools" | "recordSets">,
): Promise<GrantFacts> {
  if (pools.length + recordSets.length === 0) return { mode, namespaces: new Map() };
  try {
    const granted = await cluster.listNamespaceGrants();
    return { mode, namespaces: new Map(granted.map((grants) => [grants.namespace, grants])) };
  } catch (error) {
    if (!(error instanceof KubeError && error.failure === "forbidden")) throw error;
    return { mode, namespaces: new Map(), refusal: error.message };
  }
}

/** A cluster as it is listed once more. */
export type ClusterNow = ClusterLists & Pick<Observation, "grants">;

/**
 * Lists everything once more.
 * @param grants - as they were read before; absent where they do not count
 * @throws KubeError as {@link readCluster}
 */
export async function readClusterAgain(listing: Listing, grants: GrantFacts | undefined): Promise<ClusterNow> {
  const lists = await readCluster(listing);
  return grants === undefined ? lists : { ...lists, grants: await readGrants(listing.cluster, grants.mode, lists) };
}

/**
 * Lists nodes and pods once more, for objects that are known.
 * @throws KubeError as {@link readCluster}
 */
export async function readNodesAgain(
  cluster: ClusterReader,
  objects: Pick<Observation, "pools" | "recordSets">,
): Promise<Pick<Observation, "nodes" | "nodesReadAtMs" | "pods">> {
  const read = await readNodes(cluster);
  return { ...read, pods: await readAllPods(cluster, objects) };
}

async function readAllPods(
  cluster: ClusterReader,
  { pools, recordSets }: Pick<Observation, "pools" | "recordSets">,
): Promise<Observation["pods"]> {
  const selected = await readPods(cluster, podSelectors([...pools, ...recordSets]));
  return new Map([...selected, ...(await readEndpoints(cluster, pools))]);
}

/**
 * Returns the pods of the selectors that were meant by those that select none, where there is a near one among the labels of their namespace. They are asked for nowhere:
 * only who explains looks at them. Nothing where they cannot be read.
 */
export async function readNearPods(
  cluster: Pick<ClusterReader, "listPods"> & PodLabelReader,
  { pools, recordSets, pods }: Pick<Observation, "pools" | "recordSets" | "pods">,
): Promise<Observation["pods"]> {
  const wanted = podSelectors([...pools, ...recordSets]).filter((selector) => {
    const reading = pods.get(podSelectorKey(selector));
    const isAlone = selector.namespace === "" || selector.label === "";
    return !isAlone && reading?.kind === "read" && reading.byNode.size === 0;
  });
  const near = new Map<string, PodReading>();
  for (const { namespace, label: empty } of wanted) {
    try {
      const label = nearestSelector(empty, await cluster.listPodLabels(namespace));
      const key = podSelectorKey({ namespace, label: label ?? "" });
      if (label === undefined || pods.has(key) || near.has(key)) continue;
      near.set(key, { kind: "read", byNode: summarizePods(await cluster.listPods({ namespace, label })) });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
    }
  }
  return near;
}

/** The time is taken after the answer: before a first one nothing is known of the API server's clock. */
async function readNodes(cluster: ClusterReader): Promise<Pick<Observation, "nodes" | "nodesReadAtMs">> {
  const nodes = await cluster.listNodes();
  return { nodes, nodesReadAtMs: cluster.now() };
}

/**
 * Lists the pods of each selector once, one selector after another, so that at most one page of pods is in memory per list.
 * @throws KubeError as {@link readCluster}
 */
export async function readPods(
  cluster: Pick<ClusterReader, "listPods">,
  selectors: readonly PodSelector[],
): Promise<Observation["pods"]> {
  const pods = new Map<string, PodReading>();
  for (const selector of selectors) {
    const read = async (): Promise<ReadonlyMap<string, PodSummary>> => summaryOf(await cluster.listPods(selector));
    pods.set(podSelectorKey(selector), await readOrRefused(read, selectorText(selector), selector.namespace !== ""));
  }
  return pods;
}

/** The summary of a list, the same one each time: who watches has the same list until it changes, and what follows from it is known. */
const summaryOf: (pods: readonly PodFacts[]) => ReadonlyMap<string, PodSummary> = remembered(summarizePods);

/** Returns `the pods of label selector "app=web" in namespace "shop"`, without the part that the selector does not have. */
function selectorText({ namespace, label }: PodSelector): string {
  const pods = label === "" ? "the pods" : `the pods of label selector "${shownText(label)}"`;
  return namespace === "" ? pods : `${pods} in namespace "${namespace}"`;
}

/** Reads one list; a refusal of what it asks is part of the answer. @throws KubeError for any other failure. */
async function readOrRefused(
  read: () => Promise<ReadonlyMap<string, PodSummary>>,
  what: string,
  isNamespaced: boolean,
): Promise<PodReading> {
  try {
    return { kind: "read", byNode: await read() };
  } catch (error) {
    if (!isRequestRefusal(error, isNamespaced)) throw error;
    const refused = { kind: "refused", error: `Error listing ${what}: ${error.message}` } as const;
    return error.failure === "forbidden" ? { ...refused, isForbidden: true } : refused;
  }
}

/** The endpoints of each Service without selector that stands in for a selector, once. */
async function readEndpoints(cluster: ClusterReader, pools: readonly Pool[]): Promise<Observation["pods"]> {
  const services = new Map(
    pools.flatMap(({ endpoints }) => (endpoints === undefined ? [] : [[endpointsKey(endpoints), endpoints]])),
  );
  const readings = [...services].map(async ([key, service]) => {
    const what = `the EndpointSlices of Service "${shownText(objectKey(service))}"`;
    // The name becomes a part of a selector.
    if (!isLabelValue(service.name))
      return [key, { kind: "refused", error: `Error listing ${what}: its name is not a valid label value.` }] as const;
    const read = async (): Promise<ReadonlyMap<string, PodSummary>> =>
      summarizeEndpoints(await cluster.listEndpointSlices(service));
    return [key, await readOrRefused(read, what, true)] as const;
  });
  return new Map(await Promise.all(readings));
}

/** What has a `spec.match`. */
type Matching = Pool | RecordSet;

/** Returns the distinct selectors of pods that objects ask for, as far as they can be read. Pure. */
export function podSelectors(objects: readonly Matching[]): readonly PodSelector[] {
  const selectors = objects
    .map(({ spec }) => ({ namespace: spec.match.podNamespace, label: spec.match.podLabel }))
    .filter((selector) => selector.namespace !== "" || selector.label !== "")
    .filter((selector) => podSelectorProblem(selector) === undefined);
  return [...new Map(selectors.map((selector) => [podSelectorKey(selector), selector])).values()];
}

/** The routed IPs of a cluster as pools; `missing` says why there can be none, where the cluster does not know the kind. */
interface RoutedIPListing {
  readonly pools: readonly Pool[];
  readonly missing?: Observation["missingKinds"];
}

/**
 * Lists the routed IPs with what they refer to; issuers and Services are listed only where there are routed IPs. A cluster that does not know the kind has none.
 * @throws KubeError when a list fails for any other reason
 */
async function readRoutedIPs(cluster: ClusterReader): Promise<RoutedIPListing> {
  const routed = await orMissing(() => cluster.listRoutedIPs());
  if (routed.missing !== undefined) return { pools: [], missing: [{ resource: "routedips", error: routed.missing }] };
  if (routed.objects.length === 0) return { pools: [] };
  const [issuers, services] = await Promise.all([
    orMissing(() => cluster.listRoutedIPIssuers()),
    cluster.listServices(),
  ]);
  const pools = asPools(routed.objects, issuers.objects, services);
  return issuers.missing === undefined
    ? { pools }
    : { pools, missing: [{ resource: "routedipissuers", error: issuers.missing }] };
}

function asPools(
  routedIPs: readonly RoutedIP[],
  issuers: readonly RoutedIPIssuer[],
  services: readonly ServiceFacts[],
): readonly Pool[] {
  const references = {
    issuers: new Map(issuers.map((issuer) => [objectKey(issuer.meta), issuer])),
    services: new Map(services.map((service) => [objectKey(service), service])),
  };
  return routedIPs.map((routedIP) => routedPool(routedIP, references));
}

/** Every record set of a cluster; `missing` says why there can be none, where the cluster does not know the kind. */
interface RecordSetListing {
  readonly recordSets: readonly RecordSet[];
  readonly missing?: Observation["missingKinds"];
}

/**
 * Lists the record sets; none where the cluster does not know the kind, see {@link orMissing}.
 * @throws KubeError when the list fails for any other reason
 */
export async function listRecordSets(cluster: Pick<ClusterReader, "listRecordSets">): Promise<RecordSetListing> {
  const { objects: recordSets, missing: error } = await orMissing(() => cluster.listRecordSets());
  return error === undefined ? { recordSets } : { recordSets, missing: [{ resource: "nodednsrecordsets", error }] };
}

/** The objects of one kind; `missing` says why there can be none, where the cluster does not know the kind. */
interface KnownObjects<T> {
  readonly objects: readonly T[];
  readonly missing?: string;
}

/**
 * Lists objects of a kind that the cluster may not know yet, as after an update of flipop alone: then it has none, which must not stop anything else.
 * @throws KubeError when the list fails for any other reason
 */
export async function orMissing<T>(list: () => Promise<readonly T[]>): Promise<KnownObjects<T>> {
  try {
    return { objects: await list() };
  } catch (error) {
    if (error instanceof KubeError && error.failure === "missing-resource")
      return { objects: [], missing: error.message };
    throw error;
  }
}
