import { afterAll, beforeAll, expect, test } from "vitest";
import type { Connection } from "../../../src/adapters/kube/call.ts";
import { createClusterReader } from "../../../src/adapters/kube/cluster-reader.ts";
import { createClusterWriter } from "../../../src/adapters/kube/cluster-writer.ts";
import { loadConfig } from "../../../src/adapters/kube/config.ts";
import { decodeNode } from "../../../src/adapters/kube/node.ts";
import { decodePod } from "../../../src/adapters/kube/pod.ts";
import { PROVIDERS } from "../../../src/adapters/registry.ts";
import type { IPStatus } from "../../../src/model/resource.ts";
import type { ClusterWriter } from "../../../src/ports/cluster.ts";
import { pass } from "../../../src/reconcile.ts";
import { NO_LOCK } from "../../../src/watch/lease.ts";
import { API } from "../../cluster/api.ts";
import { describeCluster } from "../../cluster/context.ts";
import { nodeReadyCondition } from "../../cluster/objects.ts";
import { MemoryIPProvider } from "../../fake/memory-ip-provider.ts";
import { shippedFiles, shippedText } from "../../manifests/shipped.ts";
import { emptyAccount } from "../../scenario/account.ts";
import { REAL_CLOCK } from "./real-clock.ts";
import { agreeingCluster } from "./watch/agreeing-cluster.ts";

const ADDRESS = "203.0.113.1";
const DROPLETS = { odd: 101, ok: 102 } as const;
const OPTIONS = { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" };
/** What a broken clock or controller writes; the API server takes each of them. */
const TIMES = {
  "the year 1": "0001-01-01T00:00:00Z",
  "a second later": "0001-01-01T00:00:01Z",
  "1960": "1960-01-01T00:00:00Z",
  "1970": "1970-01-01T00:00:00Z",
  "9999": "9999-12-31T23:59:59Z",
} as const;
type Since = keyof typeof TIMES;
const WAYS = {
  "lists for one run": (connection: Connection) => createClusterWriter(connection, OPTIONS),
  "lists in memory": (connection: Connection) => agreeingCluster(connection),
} as const;

describeCluster("a cluster with times that nobody means", (facts) => {
  const api = new API({ ...facts, token: facts.adminToken });
  let connection: Connection;
  beforeAll(async () => {
    for (const file of shippedFiles("crds")) await api.applyManifests(shippedText(file));
    connection = await loadConfig({ kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} });
  });
  afterAll(() => api.close());

  /** A node that became what it is at an odd time, with taints of then. */
  async function oddNode(name: string, since: string, isReady: boolean, droplet: number): Promise<void> {
    await api.call("POST", "/api/v1/nodes", {
      metadata: { name, labels: { scene: name.replace(/-[^-]+$/, "") } },
      spec: { providerID: `digitalocean://${droplet}` },
      status: {
        conditions: [
          { ...nodeReadyCondition(true, since), type: "DiskPressure", status: "False" },
          nodeReadyCondition(isReady, since),
        ],
      },
    });
    const taint = { key: "odd", value: "", effect: "NoExecute", timeAdded: since };
    await api.call("PATCH", `/api/v1/nodes/${name}`, { spec: { taints: [taint] } }, "application/merge-patch+json");
  }

  test.for(Object.keys(TIMES) as Since[])(
    "says the same of a node and of a pod since %s in protobuf as in JSON, and of everything beside them",
    async (since) => {
      const [name, namespace] = [`read-${Object.keys(TIMES).indexOf(since)}-node`, await api.createNamespace("odd")];
      await oddNode(name, TIMES[since], false, 7);
      await api.createPod({ namespace, name: "odd", nodeName: name });
      const conditions = [{ type: "Ready", status: "False", lastTransitionTime: TIMES[since] }];
      const podPath = `/api/v1/namespaces/${namespace}/pods/odd`;
      await api.call(
        "PATCH",
        `${podPath}/status`,
        { status: { conditions } },
        "application/strategic-merge-patch+json",
      );
      const node = decodeNode(await api.call("GET", `/api/v1/nodes/${name}`));
      const pod = decodePod(await api.call("GET", podPath));
      expect(node?.taints).toHaveLength(1);
      expect(node).not.toHaveProperty("unreadable");
      expect(pod?.ready.sinceMs).toBe(node?.ready.sinceMs);
      for (const open of [createClusterReader, createClusterWriter]) {
        const reader = open(connection, OPTIONS);
        expect(await reader.listNodes()).toContainEqual(node);
        expect(await reader.listPods({ namespace, label: "" })).toEqual([pod]);
        reader.close();
      }
      const warm = agreeingCluster(connection);
      expect(await warm.listNodes()).toContainEqual(node);
      expect(await warm.listPods({ namespace, label: "" })).toEqual([pod]);
      warm.close();
      await api.deletePod({ namespace, name: "odd", force: true });
      await api.deleteNode(name);
    },
  );

  /** An address on a node that is ready, in a pool with a long grace period; then the node is not ready, since an odd time. */
  async function failover(since: Since, way: keyof typeof WAYS): Promise<IPStatus | undefined> {
    const scene = `fail-${Object.keys(TIMES).indexOf(since)}-${Object.keys(WAYS).indexOf(way)}`;
    const namespace = await api.createNamespace("odd");
    for (const [name, droplet] of Object.entries(DROPLETS))
      await oddNode(`${scene}-${name}`, TIMES[since], true, droplet);
    const account = emptyAccount({ now: Date.now });
    for (const id of Object.values(DROPLETS)) account.addDroplet({ id, region: "nyc3" });
    account.addAddress({ ip: ADDRESS, region: "nyc3", droplet_id: DROPLETS.odd }, "reserved");
    const pools = `/apis/flipop.digitalocean.com/v1alpha1/namespaces/${namespace}/floatingippools`;
    await api.call("POST", pools, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "web" },
      spec: {
        provider: "digitalocean",
        ips: [ADDRESS],
        gracePeriodSeconds: 3600,
        match: { nodeLabel: `scene=${scene}`, tolerations: [{ operator: "Exists" }] },
      },
    });
    const cluster = WAYS[way](connection);
    try {
      expect(await status(cluster, account, namespace)).toMatchObject({ state: "active", nodeName: `${scene}-odd` });
      await api.setNodeReady(`${scene}-odd`, false, TIMES[since]);
      return await status(cluster, account, namespace);
    } finally {
      cluster.close();
      await api.call("DELETE", `${pools}/web`);
      for (const name of Object.keys(DROPLETS)) await api.deleteNode(`${scene}-${name}`);
    }
  }

  /** Makes a pass. Returns what the pool's status has of its address then. */
  async function status(
    cluster: ClusterWriter & { readonly close: () => void },
    account: ReturnType<typeof emptyAccount>,
    namespace: string,
  ): Promise<IPStatus | undefined> {
    const provider = new MemoryIPProvider({ cloud: account.cloud(), clock: REAL_CLOCK });
    const deps = {
      cluster,
      providers: new Map([["digitalocean", { kind: "usable", provider } as const]]),
      dnsProviders: new Map(),
      registry: PROVIDERS,
      firewallProviders: new Map(),
      clock: REAL_CLOCK,
      lock: NO_LOCK,
      leaseName: { namespace, name: "flipop" },
    };
    const deadlineMs = REAL_CLOCK.monotonicMs() + 30_000;
    const selection = { namespace };
    const { result } = await pass(deps, { selection, deadlineMs, signal: new AbortController().signal });
    expect(result.outcomes.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(result.remaining.gaps).toEqual([]);
    return (await cluster.readPool({ namespace, name: "web" }))?.status.ips[ADDRESS];
  }

  test.for(Object.keys(WAYS) as (keyof typeof WAYS)[])(
    "has its failover, with %s: at once since the past, after the grace period since the future or nobody knows when",
    async (way) => {
      for (const since of Object.keys(TIMES) as Since[]) {
        const { state, nodeName, reason, notMatchingSince } = (await failover(since, way)) ?? {};
        const isPast = since === "1960" || since === "a second later";
        expect({ state, node: nodeName?.replace(/^.*-/, ""), reason }, since).toEqual({
          state: "active",
          node: isPast ? "ok" : "odd",
          reason: isPast ? undefined : "Grace",
        });
        const agoMs = Date.now() - Date.parse(notMatchingSince ?? new Date().toISOString());
        expect(Math.abs(agoMs), since).toBeLessThan(60_000);
      }
    },
  );
});
