import type { API } from "../cluster/api.ts";
import { nodeBody } from "../cluster/objects.ts";
import { type Cloud, openCloud, REGION } from "./cloud.ts";
import { inParallel } from "./in-parallel.ts";
import { runOn, someIPs } from "./scene.ts";
import { createNodes, createRoutedIP, emptyCluster, nodeName, type World } from "./world.ts";

/** What one run asked of the provider. */
export interface RoutedRun {
  readonly calls: number;
  readonly writes: number;
  readonly wallMs: number;
}

/** RoutedIPs of one Service on one firewall, which covers all nodes by a tag; one node more than addresses. */
export interface RoutedScene {
  /** Runs flipop once. */
  run(): Promise<RoutedRun>;
  /** Gives the Service another node port. */
  setPort(nodePort: number): Promise<void>;
  /** Lets the Service end on the first node. */
  failFirstNode(): Promise<void>;
}

const SERVICES = "/api/v1/namespaces/default/services";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
/** By this tag the firewall covers all nodes: one by one it could take ten. */
const TAG = "bench";
const PARALLEL_CALLS = 8;

/** Empties the cluster, sets a scene with `count` RoutedIPs up, lends it to the work and takes everything down again. */
export async function withRoutedScene<T>(
  world: World,
  count: number,
  work: (scene: RoutedScene) => Promise<T>,
): Promise<T> {
  const { api } = world;
  const ips = someIPs(count);
  const nodes = count + 1;
  await emptyCluster(api);
  await createNodes(api, { from: 1, to: nodes, body: nodeOf });
  await createService(api, 30_080);
  await createSlice(api, nodes, 1);
  await inParallel(ips, PARALLEL_CALLS, (address) => createRoutedIP(api, address));
  const cloud = await openCloud({ droplets: nodes, ips, firewallTag: TAG });
  try {
    return await work({
      run: () => countedRun(world, cloud),
      setPort: (nodePort) => setPort(api, nodePort),
      failFirstNode: async () => {
        await api.call("DELETE", `${SLICES}/web`);
        await createSlice(api, nodes, 2);
      },
    });
  } finally {
    await cloud.close();
    await api.call("DELETE", `${SLICES}/web`);
    await api.call("DELETE", `${SERVICES}/web`);
  }
}

async function countedRun(world: World, cloud: Cloud): Promise<RoutedRun> {
  cloud.forgetCalls();
  const { wallMs } = await runOn(world, cloud, ["reconcile"]);
  const writes = cloud.calls.filter(({ method }) => method !== "GET").length;
  return { calls: cloud.calls.length, writes, wallMs };
}

/** A Service without selector: its EndpointSlice says where it runs. */
async function createService(api: API, nodePort: number): Promise<void> {
  const spec = { type: "NodePort", ports: portsOf(nodePort) };
  await api.call("POST", SERVICES, { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec });
}

async function setPort(api: API, nodePort: number): Promise<void> {
  await api.call("PATCH", `${SERVICES}/web`, { spec: { ports: portsOf(nodePort) } }, "application/merge-patch+json");
}

function portsOf(nodePort: number): readonly unknown[] {
  return [{ protocol: "TCP", port: 80, nodePort }];
}

/** The Service's endpoints: one on each node from `firstReady` on is ready. */
async function createSlice(api: API, nodes: number, firstReady: number): Promise<void> {
  await api.call("POST", SLICES, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "web", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    ports: [],
    endpoints: Array.from({ length: nodes }, (_, index) => ({
      addresses: [`10.20.${(index + 1) >> 8}.${(index + 1) & 255}`],
      conditions: { ready: index + 1 >= firstReady },
      nodeName: nodeName(index + 1),
    })),
  });
}

function nodeOf(droplet: number): ReturnType<typeof nodeBody> {
  return nodeBody({ name: nodeName(droplet), providerID: `digitalocean://${droplet}`, region: REGION });
}
