import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../../../src/adapters/kube/config.ts";
import { NODES_REQUEST } from "../../../../src/adapters/kube/node.ts";
import { Transport } from "../../../../src/adapters/kube/transport.ts";
import { createWarmCluster } from "../../../../src/adapters/kube/warm-cluster.ts";
import { KubeWatchSource } from "../../../../src/adapters/kube/watch/watch-source.ts";
import type { WarmCluster } from "../../../../src/ports/cluster.ts";
import { API } from "../../../cluster/api.ts";
import { describeCluster } from "../../../cluster/context.ts";
import { type ClusterFacts, startCluster } from "../../../cluster/start.ts";
import { shippedFiles, shippedText } from "../../../manifests/shipped.ts";
import { REAL_CLOCK } from "../real-clock.ts";
import { rejection } from "../with-server.ts";
import { type TCPGate, tcpGate } from "./tcp-gate.ts";

const CRDS = shippedFiles("crds");
const GROUP = "/apis/flipop.digitalocean.com/v1alpha1";
const mergePatch = "application/merge-patch+json";

interface Warm {
  readonly cluster: WarmCluster;
  readonly gate: TCPGate;
  readonly heard: string[];
}

const open: Warm[] = [];
afterEach(() => {
  for (const { cluster, gate } of open.splice(0)) {
    cluster.close();
    gate.close();
  }
});

async function openWarm(facts: ClusterFacts, as?: string): Promise<Warm> {
  const gate = await tcpGate(facts.server);
  const inputs = { kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} };
  const connection = await loadConfig({ ...inputs, ...(as === undefined ? {} : { as }) });
  const options = { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" };
  const cluster = createWarmCluster({ ...connection, server: gate.url }, options);
  const heard: string[] = [];
  cluster.onChange(({ kind, subject }) => heard.push(`${kind} ${subject}`));
  const warm = { cluster, gate, heard };
  open.push(warm);
  return warm;
}

/** Resolves when the work no longer fails. */
async function eventually(work: () => void | Promise<void>): Promise<void> {
  await expect.poll(async () => await Promise.resolve(work()).then(() => true)).toBe(true);
}

describeCluster("lists kept in memory on a real API server", (facts) => {
  const api = new API({ ...facts, token: facts.adminToken });
  beforeAll(async () => {
    for (const file of CRDS) await api.applyManifests(shippedText(file));
  });

  test("show nodes as they come, change and go, and no heartbeat is announced", async () => {
    const { cluster, heard } = await openWarm(facts);
    const names = async (): Promise<readonly string[]> =>
      (await cluster.listNodes()).map(({ name }) => name).filter((name) => name.startsWith("warm-"));
    expect(await names()).toEqual([]);
    await api.createNode({ name: "warm-b", ready: true });
    await api.createNode({ name: "warm-a", ready: true });
    await eventually(async () => expect(await names()).toEqual(["warm-a", "warm-b"]));
    await eventually(async () =>
      expect((await cluster.listNodes()).find(({ name }) => name === "warm-a")?.taints).toEqual([]),
    );
    heard.length = 0;
    const before = await cluster.readNode("warm-a");
    const since = new Date(before?.ready.sinceMs ?? 0).toISOString();
    await api.setNodeReady("warm-a", true, since);
    await api.setNodeReady("warm-b", false);
    await eventually(() => expect(heard).toContain("node warm-b"));
    expect(heard).toEqual(["node warm-b"]);
    expect((await cluster.listNodes()).find(({ name }) => name === "warm-a")).toEqual(await cluster.readNode("warm-a"));
    await api.deleteNode("warm-a");
    await api.deleteNode("warm-b");
    await eventually(async () => expect(await names()).toEqual([]));
  });

  test("show an own annotation at once, unannounced, as the server stores it", async () => {
    const { cluster, heard } = await openWarm(facts);
    await api.createNode({ name: "warm-own" });
    await cluster.listNodes();
    await eventually(async () => expect(await cluster.listNodes()).toContainEqual(await cluster.readNode("warm-own")));
    heard.length = 0;
    for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", null]) {
      await cluster.annotateNode("warm-own", { address, pool: "n/p" });
      expect((await cluster.listNodes()).find(({ name }) => name === "warm-own")?.addressAnnotation).toBe(
        address ?? undefined,
      );
    }
    await api.setNodeLabels("warm-own", { last: "1" });
    await eventually(() => expect(heard).toEqual(["node warm-own"]));
    await api.deleteNode("warm-own");
  });

  test("show the pods of a selector, those that begin and cease to fit included", async () => {
    const { cluster, heard } = await openWarm(facts);
    const namespace = await api.createNamespace("warm");
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const selector = { namespace: "", label: `app=${namespace}` };
    const listed = async (): Promise<readonly string[]> => (await cluster.listPods(selector)).map(({ name }) => name);
    expect(await listed()).toEqual([]);
    await api.createPod({ namespace, name: "a", nodeName: "n", labels: { app: namespace } });
    await api.createPod({ namespace, name: "other", nodeName: "n", labels: { app: "other" } });
    await eventually(async () => expect(await cluster.listPods(selector)).toMatchObject([{ phase: "Running" }]));
    await api.call("PATCH", `${path}/a`, { metadata: { labels: { app: "other" } } }, mergePatch);
    await eventually(async () => expect(await listed()).toEqual([]));
    await api.call("PATCH", `${path}/other`, { metadata: { labels: { app: namespace } } }, mergePatch);
    await eventually(async () => expect(await listed()).toEqual(["other"]));
    heard.length = 0;
    await api.setPodReady({ namespace, name: "other", ready: false });
    await eventually(() => expect(heard).toEqual([`pod ${namespace}/other`]));
    await api.deletePod({ namespace, name: "other", force: true });
    await eventually(async () => expect(await listed()).toEqual([]));
    await api.deletePod({ namespace, name: "a", force: true });
  });

  test("show pools and record sets, own statuses at once", async () => {
    const { cluster, heard } = await openWarm(facts);
    const namespace = await api.createNamespace("warm");
    const pools = `${GROUP}/namespaces/${namespace}/floatingippools`;
    const own = async (): Promise<readonly string[]> =>
      (await cluster.listPools()).filter(({ meta }) => meta.namespace === namespace).map(({ meta }) => meta.name);
    expect(await own()).toEqual([]);
    await cluster.listRecordSets();
    const spec = { provider: "digitalocean", region: "nyc3", ips: ["192.0.2.1"], match: {} };
    const apiVersion = "flipop.digitalocean.com/v1alpha1";
    await api.call("POST", pools, { apiVersion, kind: "FloatingIPPool", metadata: { name: "p" }, spec });
    await eventually(async () => expect(await own()).toEqual(["p"]));
    heard.length = 0;
    const [pool] = (await cluster.listPools()).filter(({ meta }) => meta.namespace === namespace);
    if (pool === undefined) throw new Error("the pool is not listed");
    const stored = await cluster.patchPoolStatus(pool.meta, { ...pool.status, nodeErrors: ["x"] });
    expect(await cluster.listPools()).toContainEqual(stored);
    const finalised = await cluster.setPoolFinalizer(stored.meta, true);
    expect(await cluster.listPools()).toContainEqual(finalised);
    await cluster.setPoolFinalizer(finalised.meta, false);
    await api.call("PATCH", `${pools}/p`, { spec: { region: "ams3" } }, mergePatch);
    await eventually(() => expect(heard).toEqual([`pool ${namespace}/p`]));
    const recordSets = `${GROUP}/namespaces/${namespace}/nodednsrecordsets`;
    const dns = { provider: "digitalocean", dnsRecordSet: { zone: "example.com", recordName: "r" }, match: {} };
    await api.call("POST", recordSets, { apiVersion, kind: "NodeDNSRecordSet", metadata: { name: "r" }, spec: dns });
    await eventually(() => expect(heard).toContain(`record-set ${namespace}/r`));
    await api.call("DELETE", recordSets);
    await api.call("DELETE", pools);
    await eventually(async () => expect(await own()).toEqual([]));
  });

  test("fail at the first call where watching is not granted, and the text names the verb", async () => {
    await api.applyManifests(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: warm-lister}
rules: [{apiGroups: [""], resources: [nodes], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: warm-lister}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: warm-lister}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: warm-lister}]
`);
    const { cluster } = await openWarm(facts, "warm-lister");
    await eventually(async () =>
      expect(await rejection(cluster.listNodes())).toMatchObject({ operation: "watch nodes" }),
    );
    expect((await rejection(cluster.listNodes())).message).toBe(
      'Cannot watch nodes: nodes is forbidden: User "warm-lister" cannot watch resource "nodes" in API group "" at the cluster scope (403). ' +
        'Grant the verb "watch" on "nodes" (see cronjob/watch/rbac.yaml).',
    );
  });

  test("show a node that was replaced under its name while nobody could watch", async () => {
    const { cluster, gate, heard } = await openWarm(facts);
    await api.createNode({ name: "warm-twin", providerID: "digitalocean://1" });
    const twin = async (): Promise<unknown> => (await cluster.listNodes()).find(({ name }) => name === "warm-twin");
    await eventually(async () => expect(await twin()).toMatchObject({ providerID: "digitalocean://1" }));
    heard.length = 0;
    gate.shut();
    await api.deleteNode("warm-twin");
    await api.createNode({ name: "warm-twin", providerID: "digitalocean://2" });
    gate.open();
    await eventually(async () => expect(await twin()).toMatchObject({ providerID: "digitalocean://2", taints: [] }));
    expect(heard).toContain("node warm-twin");
    await api.deleteNode("warm-twin");
  });
});

/** What a watch of nodes from a version is refused with. */
async function watchFrom(facts: ClusterFacts, version: string): Promise<unknown> {
  const inputs = { kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} };
  const transport = new Transport(await loadConfig(inputs), { version: "0.0.0", clock: REAL_CLOCK });
  const access = { connection: transport.connection, clock: REAL_CLOCK, random: () => 0 };
  const [send, open] = [transport.read.bind(transport), transport.open.bind(transport)];
  const source = new KubeWatchSource({ ...access, send, open }, NODES_REQUEST);
  try {
    await source.watch(version, {
      signal: AbortSignal.timeout(10_000),
      known: () => undefined,
      take: (events) => {
        for (const event of events) if (event.kind === "failed") throw event.error;
      },
    });
    return undefined;
  } catch (error) {
    return error;
  } finally {
    transport.close();
  }
}

describeCluster("lists kept in memory over the API server's absence", () => {
  describe("with a cluster of its own", () => {
    test("fail with the reason while it is away, and go on after its restart, lost history included", async () => {
      const own = await startCluster();
      try {
        const api = new API({ ...own, token: own.adminToken });
        const { cluster, gate, heard } = await openWarm(own);
        await api.createNode({ name: "a" });
        await api.createNode({ name: "b" });
        const names = async (): Promise<readonly string[]> => (await cluster.listNodes()).map(({ name }) => name);
        await eventually(async () => expect(await names()).toEqual(["a", "b"]));
        gate.shut();
        await api.deleteNode("a");
        await api.createNode({ name: "c" });
        // The new server's memory begins here: the version that was seen last is too old for it.
        await own.restartAPIServer();
        await eventually(async () =>
          expect(await rejection(cluster.listNodes())).toMatchObject({
            failure: "unavailable",
            operation: expect.stringMatching(/^(list|watch) nodes$/),
          }),
        );
        expect(cluster.staleness()?.error.message).toMatch(/^Cannot (list|watch) nodes: /);
        heard.length = 0;
        gate.open();
        await eventually(async () => expect(await names()).toEqual(["b", "c"]));
        expect(heard.sort()).toEqual(["node a", "node c"]);
        // The list can be read before its watch stands again.
        await eventually(async () => {
          await names();
          expect(cluster.staleness()).toBeUndefined();
        });
        expect(await watchFrom(own, "1")).toMatchObject({ failure: "gone", status: 410, operation: "watch nodes" });

        own.pauseEtcd();
        expect(await names()).toEqual(["b", "c"]);
        own.resumeEtcd();
        await api.deleteNode("b");
        await eventually(async () => expect(await names()).toEqual(["c"]));
        api.close();
      } finally {
        await own.stop();
      }
    });
  });
});
