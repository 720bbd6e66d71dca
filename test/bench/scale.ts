import { rmSync } from "node:fs";
import { dirname } from "node:path";
import type { API } from "../cluster/api.ts";
import { builtForImage } from "../programs/built-package.ts";
import { bigNode, bigPod, bigPodStatus, INGRESS_LABEL, POD_NAMESPACE } from "./big-objects.ts";
import { isAssignRequest, openCloud, REGION } from "./cloud.ts";
import { type Container, cronJobContainer, watcherContainer } from "./container.ts";
import { type Figure, memoryFigure, timeFigure } from "./figure.ts";
import { inParallel } from "./in-parallel.ts";
import { runOn, someIPs } from "./scene.ts";
import type { Section } from "./table.ts";
import { type WatchEvents, watchAWhile, watchFigures } from "./watch-scale.ts";
import { createNodes, createPool, deletePool, emptyCluster, nodeName, type World } from "./world.ts";

interface Size {
  readonly nodes: number;
  readonly pods: number;
  readonly runs: number;
}

interface Selector {
  readonly what: string;
  readonly match: Readonly<Record<string, string>>;
}

/** What is wanted of one size with one selector, and what the Go operator does. */
interface Expectation {
  readonly size: Size;
  readonly selector: Selector;
  readonly ms: string;
  readonly mb: string;
  readonly goMs: string;
  readonly goMB: string;
  /** Wanted of a process that watches. */
  readonly watchMB: string;
}

const NORMAL: Size = { nodes: 1000, pods: 20_000, runs: 5 };
const LARGE: Size = { nodes: 5000, pods: 50_000, runs: 5 };
/** Ten times what the Go operator was measured with, and more than one API server is meant for. */
const HUGE: Size = { nodes: 10_000, pods: 100_000, runs: 3 };
const BY_LABEL: Selector = { what: "a pod label", match: { podLabel: INGRESS_LABEL } };
const BY_NAMESPACE: Selector = { what: "a pod namespace alone", match: { podNamespace: POD_NAMESPACE } };

const NORMAL_EXPECTATIONS: readonly Expectation[] = [
  { size: NORMAL, selector: BY_LABEL, ms: "≤ 1 s", mb: "≤ 150 MB", goMs: "260 ms", goMB: "81 MB", watchMB: "≤ 150 MB" },
  { size: NORMAL, selector: BY_NAMESPACE, ms: "", mb: "", goMs: "3,000 ms", goMB: "831 MB", watchMB: "≤ 250 MB" },
];
const LARGE_EXPECTATIONS: readonly Expectation[] = [
  {
    size: LARGE,
    selector: BY_LABEL,
    ms: "≤ 2 s",
    mb: "≤ 200 MB",
    goMs: "dies at start",
    goMB: "dies at start",
    watchMB: "≤ 150 MB",
  },
  {
    size: LARGE,
    selector: BY_NAMESPACE,
    ms: "≤ 5 s",
    mb: "≤ 300 MB",
    goMs: "6,200 ms",
    goMB: "1,988 MB",
    watchMB: "≤ 250 MB",
  },
];
const HUGE_EXPECTATIONS: readonly Expectation[] = [
  { size: HUGE, selector: BY_LABEL, ms: "≤ 3 s", mb: "≤ 250 MB", goMs: "", goMB: "", watchMB: "≤ 250 MB" },
  { size: HUGE, selector: BY_NAMESPACE, ms: "≤ 12 s", mb: "≤ 300 MB", goMs: "", goMB: "", watchMB: "≤ 250 MB" },
];

/** What happens to a process that watches a cluster of this size. */
const EVENTS: ReadonlyMap<Size, WatchEvents> = new Map([
  [LARGE, { reports: LARGE.nodes }],
  [HUGE, { failures: 9 }],
]);

/** One pod in this many belongs to the ingress: a few hundred of all. */
const INGRESS_SHARE = 150;
const ADDRESSES = 3;
/** Connections of the client that fills the cluster. */
const WIDTH = 8;

/** One-shot runs in big clusters, whose pods take minutes to create. */
export async function benchScale(world: World): Promise<Section> {
  const figures: Figure[] = [];
  await fill(world.api, NORMAL);
  const app = await builtForImage();
  const watcher = watcherContainer(app);
  for (const expectation of NORMAL_EXPECTATIONS) {
    figures.push(...(await measure(world, expectation)), ...(await watch(world, expectation, watcher)));
  }
  await grow(world.api, NORMAL, LARGE);
  for (const expectation of LARGE_EXPECTATIONS) {
    figures.push(...(await measure(world, expectation)), ...(await watch(world, expectation, watcher)));
  }
  const container = cronJobContainer(app);
  for (const expectation of LARGE_EXPECTATIONS) {
    const wanted = { ...expectation, ms: "", mb: `≤ ${container.memory}`, goMs: "", goMB: "" };
    figures.push(...(await measure(world, wanted, container)));
  }
  rmSync(dirname(app), { recursive: true, force: true });
  return { title: "Big clusters: a one-shot run that assigns 3 addresses, and a process that watches", figures };
}

/** The same with ten times as many nodes as is usual. */
export async function benchHuge(world: World): Promise<Section> {
  const figures: Figure[] = [];
  await fill(world.api, HUGE);
  const app = await builtForImage();
  for (const expectation of HUGE_EXPECTATIONS) {
    figures.push(...(await measure(world, expectation)), ...(await watch(world, expectation, watcherContainer(app))));
    const container = cronJobContainer(app);
    const wanted = { ...expectation, mb: `≤ ${container.memory}` };
    figures.push(...(await measure(world, wanted, container)));
  }
  rmSync(dirname(app), { recursive: true, force: true });
  return { title: "Huge clusters: a one-shot run that assigns 3 addresses, and a process that watches", figures };
}

/** Empties the cluster, and fills it up to the size. */
async function fill(api: API, size: Size): Promise<void> {
  await emptyCluster(api);
  await api.request("POST", "/api/v1/namespaces", { metadata: { name: POD_NAMESPACE } });
  await grow(api, { nodes: 0, pods: 0 }, size);
}

function sizeText({ nodes, pods }: Size): string {
  return `${nodes.toLocaleString("en-US")} nodes, ${pods.toLocaleString("en-US")} pods`;
}

/** Adds nodes and running, ready pods until the cluster is of the size. */
async function grow(api: API, from: { readonly nodes: number; readonly pods: number }, to: Size): Promise<void> {
  await createNodes(api, { from: from.nodes + 1, to: to.nodes, body: bigNode });
  const path = `/api/v1/namespaces/${POD_NAMESPACE}/pods`;
  const numbers = Array.from({ length: to.pods - from.pods }, (_, index) => from.pods + index);
  await inParallel(numbers, WIDTH, async (index) => {
    const droplet = from.nodes + 1 + (index % (to.nodes - from.nodes));
    const { name, ...pod } = bigPod(index, droplet, index % INGRESS_SHARE === 0);
    await api.call("POST", path, pod);
    const body = { status: bigPodStatus(index) };
    await api.call("PATCH", `${path}/${name}/status`, body, "application/merge-patch+json");
  });
}

/**
 * Changes a pod and a node. In a cluster where nothing changes for minutes an API server answers the later pages of a list from
 * etcd instead of its memory, ten times slower; no cluster of this size is ever that quiet.
 * Seen on v1.35.4, 2026-08.
 */
async function stir(api: API): Promise<void> {
  const stirred = { metadata: { labels: { stirred: String(Date.now()) } } };
  const pod = `/api/v1/namespaces/${POD_NAMESPACE}/pods/${bigPod(1, 1, false).name}`;
  for (const path of [pod, `/api/v1/nodes/${nodeName(1)}`]) {
    await api.call("PATCH", path, stirred, "application/merge-patch+json");
  }
}

async function measure(
  world: World,
  { size, selector, ms, mb, goMs, goMB }: Expectation,
  container?: Container,
): Promise<readonly Figure[]> {
  const first: number[] = [];
  const whole: number[] = [];
  const peak: number[] = [];
  for (let run = 0; run < size.runs; run += 1) {
    const { firstAssignMs, wallMs, peakMB } = await assignOnce(world, size, selector, container);
    first.push(firstAssignMs);
    whole.push(wallMs);
    if (peakMB !== undefined) peak.push(peakMB);
  }
  const how = container === undefined ? "" : "as the CronJob's container, ";
  const what = `${how}${sizeText(size)}, ${selector.what}`;
  return [
    timeFigure(`${what}: start → first assign request`, first, { goOperator: goMs }),
    timeFigure(`${what}: whole run`, whole, { wanted: ms }),
    ...(peak.length === 0 ? [] : [memoryFigure(`${what}: peak memory`, peak, { wanted: mb, goOperator: goMB })]),
  ];
}

/** One process that watches, as the shipped Deployment runs it. */
async function watch(
  world: World,
  { size, selector, goMB, watchMB }: Expectation,
  container: Container,
): Promise<readonly Figure[]> {
  const ips = someIPs(ADDRESSES);
  const cloud = await openCloud({ droplets: size.nodes, ips });
  try {
    await createPool(world.api, { provider: "digitalocean", region: REGION, ips, match: selector.match });
    await stir(world.api);
    const samples = await watchAWhile(world, cloud, container, EVENTS.get(size));
    const what = `watching as the Deployment's container, ${sizeText(size)}, ${selector.what}`;
    return watchFigures(what, samples, { wanted: watchMB, goOperator: goMB });
  } finally {
    await deletePool(world.api);
    await cloud.close();
  }
}

async function assignOnce(
  world: World,
  { nodes }: Size,
  { match }: Selector,
  container: Container | undefined,
): Promise<{ readonly firstAssignMs: number; readonly wallMs: number; readonly peakMB: number | undefined }> {
  const ips = someIPs(ADDRESSES);
  const cloud = await openCloud({ droplets: nodes, ips });
  try {
    await createPool(world.api, { provider: "digitalocean", region: REGION, ips, match });
    await stir(world.api);
    const { startedAtMs, wallMs, peakMB } = await runOn(world, cloud, ["reconcile"], container && { container });
    const assigns = cloud.calls.filter(isAssignRequest);
    if (assigns.length !== ADDRESSES) throw new Error(`${assigns.length} of ${ADDRESSES} addresses were assigned`);
    return { firstAssignMs: (assigns[0]?.atMs ?? Number.NaN) - startedAtMs, wallMs, peakMB };
  } finally {
    await deletePool(world.api);
    await cloud.close();
  }
}
