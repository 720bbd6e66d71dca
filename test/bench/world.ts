import { readFileSync } from "node:fs";
import { API } from "../cluster/api.ts";
import { writeKubeconfig } from "../cluster/kubeconfig.ts";
import { startCluster } from "../cluster/start.ts";
import { shippedFiles } from "../manifests/shipped.ts";
import { inParallel } from "./in-parallel.ts";
import { type KubeMeter, openKubeMeter } from "./kube-meter.ts";

/** A real cluster with the shipped CRDs, and flipop's account as shipped. */
export interface World {
  /** The administrator. */
  readonly api: API;
  /** Straight to the API server, as flipop's service account. */
  readonly kubeconfig: string;
  /** The same account through {@link World.meter}. */
  readonly meteredKubeconfig: string;
  readonly meter: KubeMeter;
  close(): Promise<void>;
}

const OBJECTS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default";
const POOLS = `${OBJECTS}/floatingippools`;
const RECORD_SETS = `${OBJECTS}/nodednsrecordsets`;
const ROUTED_IPS = `${OBJECTS}/routedips`;
const ISSUERS = `${OBJECTS}/routedipissuers`;
const API_VERSION = "flipop.digitalocean.com/v1alpha1";
const MANIFESTS = ["namespace.yaml", ...shippedFiles("crds"), "rbac.yaml", "watch/rbac.yaml"];
const PARALLEL_CALLS = 8;

/** Starts a cluster, in about 5 s. @throws AssetsError when its programs are missing. */
export async function openWorld(): Promise<World> {
  const cluster = await startCluster();
  const { server, caFile, adminToken } = cluster;
  const api = new API({ server, caFile, token: adminToken });
  for (const file of MANIFESTS) {
    await api.applyManifests(readFileSync(new URL(`../../cronjob/${file}`, import.meta.url), "utf8"));
  }
  const token = await api.serviceAccountToken("flipop", "flipop");
  const meter = await openKubeMeter(cluster);
  return {
    api,
    kubeconfig: cluster.kubeconfigFor(token),
    meteredKubeconfig: writeKubeconfig({ ...cluster, server: meter.url }, token),
    meter,
    close: async () => {
      meter.close();
      api.close();
      await cluster.stop();
    },
  };
}

/** Deletes every pool, record set, routed IP, issuer and node, and flipop's Lease; pods stay. */
export async function emptyCluster(api: API): Promise<void> {
  await api.call("DELETE", POOLS);
  await api.call("DELETE", RECORD_SETS);
  await api.call("DELETE", ROUTED_IPS);
  await api.call("DELETE", ISSUERS);
  await api.call("DELETE", "/api/v1/nodes");
  await api.request("DELETE", "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop");
}

/** Creates the pool `default/web`. */
export async function createPool(api: API, spec: Readonly<Record<string, unknown>>, name = "web"): Promise<void> {
  await api.call("POST", POOLS, { apiVersion: API_VERSION, kind: "FloatingIPPool", metadata: { name }, spec });
}

/** Adds an address to those of the pool. */
export async function addToPool(api: API, ip: string): Promise<void> {
  const { spec } = await api.call<{ spec: { ips: readonly string[] } }>("GET", `${POOLS}/web`);
  const body = { spec: { ips: [...spec.ips, ip] } };
  await api.call("PATCH", `${POOLS}/web`, body, "application/merge-patch+json");
}

/** Creates a RoutedIP of the Service `web` that has this address, and its issuer, whose firewall is `web`, unless that is there. */
export async function createRoutedIP(api: API, address: string): Promise<void> {
  const issuer = { provider: "digitalocean", routedIPFirewallName: "web" };
  const metadata = { name: "cloud" };
  await api.request("POST", ISSUERS, { apiVersion: API_VERSION, kind: "RoutedIPIssuer", metadata, spec: issuer });
  await api.call("POST", ROUTED_IPS, {
    apiVersion: API_VERSION,
    kind: "RoutedIP",
    metadata: { name: `vip-${address.replaceAll(".", "-")}` },
    spec: { issuer: "cloud", serviceName: "web", address },
  });
}

/** Creates record sets in the namespace `default`. */
export async function createRecordSets(
  api: API,
  recordSets: readonly { readonly name: string; readonly spec: Readonly<Record<string, unknown>> }[],
): Promise<void> {
  await inParallel(recordSets, PARALLEL_CALLS, async ({ name, spec }) => {
    await api.call("POST", RECORD_SETS, {
      apiVersion: API_VERSION,
      kind: "NodeDNSRecordSet",
      metadata: { name },
      spec,
    });
  });
}

/** Deletes the pool and what a run left on nodes for it. */
export async function deletePool(api: API): Promise<void> {
  const pool = await api.call<{ status?: { ips?: Record<string, { nodeName?: string }> } }>("GET", `${POOLS}/web`);
  await api.call("DELETE", `${POOLS}/web`);
  const annotations = Object.fromEntries(
    ["ipv4-reserved-ip", "pool"].map((key) => [`flipop.digitalocean.com/${key}`, null]),
  );
  for (const { nodeName } of Object.values(pool.status?.ips ?? {})) {
    if (nodeName === undefined) continue;
    await api.call("PATCH", `/api/v1/nodes/${nodeName}`, { metadata: { annotations } }, "application/merge-patch+json");
  }
}

/** Creates nodes on droplets `from`, …, `to`. */
export async function createNodes(
  api: API,
  { from, to, body }: { readonly from: number; readonly to: number; readonly body: (droplet: number) => unknown },
): Promise<void> {
  const droplets = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await inParallel(droplets, PARALLEL_CALLS, async (droplet) => {
    await api.call("POST", "/api/v1/nodes", body(droplet));
    // Admission taints every new node as not ready.
    await api.setNodeTaints(nodeName(droplet), []);
  });
}

/** The node on a droplet. */
export function nodeName(droplet: number): string {
  return `worker-${String(droplet).padStart(5, "0")}`;
}
