// Proves what the other cluster tests rely on: that this is a real API server, and that it leaves nothing behind.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { API, APIError } from "./api.ts";
import { describeCluster } from "./context.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { type ClusterFacts, startCluster } from "./start.ts";
import type { KubeObject } from "./transport.ts";

describeCluster("a shared cluster", (cluster) => {
  const api = new API({ ...cluster, token: cluster.adminToken });

  test("a new node is ready and has exactly the taints it was given", async () => {
    const name = `node-${Date.now()}`;
    const node = await api.createNode({
      name,
      providerID: "digitalocean://1",
      region: "ams3",
      labels: { pool: "web" },
      addresses: [{ type: "ExternalIP", address: "192.0.2.1" }],
    });
    expect(node.spec).toEqual({ providerID: "digitalocean://1" });
    expect(node.metadata.labels).toMatchObject({ pool: "web", "topology.kubernetes.io/region": "ams3" });
    expect(node.status).toMatchObject({
      addresses: [{ type: "ExternalIP", address: "192.0.2.1" }],
      conditions: [{ type: "Ready", status: "True" }],
    });
    const taints = [{ key: "example.test/drain", effect: "NoSchedule" }];
    expect((await api.setNodeTaints(name, taints)).spec?.["taints"]).toEqual(taints);
    await api.deleteNode(name);
    expect((await api.request("GET", `/api/v1/nodes/${name}`)).status).toBe(404);
  });

  test("a node turns unready at the time the test says, and keeps its other conditions", async () => {
    const name = `node-unready-${Date.now()}`;
    await api.createNode({ name });
    const other = { status: { conditions: [{ type: "DiskPressure", status: "False" }] } };
    await api.call("PATCH", `/api/v1/nodes/${name}/status`, other, "application/strategic-merge-patch+json");
    const node = await api.setNodeReady(name, "Unknown", "2026-01-02T03:04:05Z");
    expect(condition(node, "Ready")).toMatchObject({ status: "Unknown", lastTransitionTime: "2026-01-02T03:04:05Z" });
    expect(condition(node, "DiskPressure")).toMatchObject({ status: "False" });
    expect(condition(await api.setNodeReady(name, true), "Ready")).toMatchObject({ status: "True" });
    await api.deleteNode(name);
  });

  test("a pod with a node stays terminating after a deletion until it is forced", async () => {
    const namespace = await api.createNamespace("pods");
    const pod = await api.createPod({ namespace, name: "a", nodeName: "n", labels: { app: "web" }, ready: false });
    expect(pod.status).toMatchObject({ phase: "Running" });
    expect(condition(pod, "Ready")).toMatchObject({ status: "False" });
    const ready = await api.setPodReady({ namespace, name: "a", ready: true });
    expect(condition(ready, "Ready")).toMatchObject({ status: "True" });
    await api.createPod({ namespace, name: "b", labels: { app: "other" } });
    const path = `/api/v1/namespaces/${namespace}/pods`;
    expect(await api.list(`${path}?labelSelector=app%3Dweb`)).toHaveLength(1);
    expect(await api.list(`${path}?limit=1`)).toHaveLength(2);

    await api.deletePod({ namespace, name: "a" });
    expect((await api.call("GET", `${path}/a`)).metadata.deletionTimestamp).toBeDefined();
    await api.deletePod({ namespace, name: "a", force: true });
    await api.deletePod({ namespace, name: "a", force: true });
    expect((await api.request("GET", `${path}/a`)).status).toBe(404);
  });

  test("a service account may do what its role says, and nothing before it has one", async () => {
    const namespace = await api.createNamespace("rbac");
    await api.applyManifests("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot}", { namespace });
    const account = new API({ ...cluster, token: await api.serviceAccountToken(namespace, "robot") });
    const path = `/api/v1/namespaces/${namespace}/pods`;
    expect(await account.request("GET", path)).toMatchObject({ status: 403, body: { reason: "Forbidden" } });
    await api.applyManifests(readPods, { namespace });
    // The authorizer learns of a new binding through a watch.
    await expect.poll(async () => (await account.request("GET", path)).status).toBe(200);
    expect((await account.request("GET", "/api/v1/nodes")).status).toBe(403);
  });

  test("no token is a stranger and a wrong one is refused", async () => {
    const { server, caFile } = cluster;
    expect((await new API({ server, caFile }).request("GET", "/api/v1/nodes")).status).toBe(403);
    expect((await new API({ server, caFile, token: "wrong" }).request("GET", "/api/v1/nodes")).status).toBe(401);
  });

  test("a custom resource is served as soon as its definition is applied", async () => {
    const namespace = await api.createNamespace("crd");
    const [definition, widget] = await api.applyManifests(`${widgets}---${aWidget}`, { namespace });
    expect(definition?.kind).toBe("CustomResourceDefinition");
    expect(widget).toMatchObject({ metadata: { namespace, generation: 1 }, spec: { size: 1 } });
    await api.applyManifests(aWidget.replace("size: 1", "size: 2"), { namespace });
    const path = `/apis/example.test/v1/namespaces/${namespace}/widgets`;
    expect(await api.list(path)).toMatchObject([{ spec: { size: 2 }, metadata: { generation: 2 } }]);
    const refusal = api.applyManifests(aWidget.replace("size: 1", "size: -1"), { namespace });
    await expect(refusal).rejects.toThrow(APIError);
    await expect(refusal).rejects.toMatchObject({ status: 422, body: { reason: "Invalid" } });
  });

  test("an update with an old resourceVersion is a conflict", async () => {
    const namespace = await api.createNamespace("conflict");
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const lease = await api.call("POST", path, { metadata: { name: "leader" }, spec: { holderIdentity: "a" } });
    const update = { ...lease, spec: { holderIdentity: "b" } };
    expect((await api.request("PUT", `${path}/leader`, update)).status).toBe(200);
    expect(await api.request("PUT", `${path}/leader`, update)).toMatchObject({
      status: 409,
      body: { reason: "Conflict" },
    });
  });

  test("a kubeconfig names server, certificate, token and namespace", () => {
    const { server, caFile } = cluster;
    expect(parse(readFileSync(cluster.kubeconfig, "utf8"))).toMatchObject({
      clusters: [{ cluster: { server, "certificate-authority": caFile } }],
      users: [{ user: { token: cluster.adminToken } }],
    });
    const file = writeKubeconfig(cluster, "secret", { namespace: "elsewhere" });
    expect(parse(readFileSync(file, "utf8"))).toMatchObject({
      users: [{ user: { token: "secret" } }],
      contexts: [{ context: { namespace: "elsewhere" } }],
    });
  });
});

describeCluster("a cluster of one's own", () => {
  test("data, tokens and open clients survive a restart; stop leaves neither process nor file", async () => {
    const own = await startCluster();
    const api = new API({ ...own, token: own.adminToken });
    const namespace = await api.createNamespace("kept");
    await api.applyManifests("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot}", { namespace });
    const account = new API({ ...own, token: await api.serviceAccountToken(namespace, "robot") });
    const before = own.pids();
    await own.restartAPIServer();
    const after = own.pids();
    expect(after.etcd).toBe(before.etcd);
    expect(after.kubeAPIServer).not.toBe(before.kubeAPIServer);
    expect((await api.call("GET", `/api/v1/namespaces/${namespace}`)).metadata.name).toBe(namespace);
    expect((await account.request("GET", "/api/v1/nodes")).status).toBe(403);

    await own.stop();
    await own.stop();
    expect([...Object.values(before), ...Object.values(after)].filter(isRunning)).toEqual([]);
    expect(existsSync(own.directory)).toBe(false);
  });

  test("a write hangs while etcd is frozen and works again afterwards", async () => {
    const own = await startCluster();
    const hasty = new API({ ...own, token: own.adminToken, timeoutMs: 500 });
    own.pauseEtcd();
    await expect(hasty.createNamespace("frozen")).rejects.toMatchObject({ name: "TimeoutError" });
    own.resumeEtcd();
    await new API({ ...own, token: own.adminToken }).createNamespace("thawed");
    own.pauseEtcd();
    await own.stop();
    expect(Object.values(own.pids()).filter(isRunning)).toEqual([]);
  });

  test.each(["SIGTERM", "SIGKILL"] as const)("its processes end when %s ends their parent", async (signal) => {
    const program = `
      const { startCluster } = await import(${JSON.stringify(join(import.meta.dirname, "start.ts"))});
      const cluster = await startCluster();
      console.log(JSON.stringify({ directory: cluster.directory, pids: Object.values(cluster.pids()) }));
      setInterval(() => undefined, 1000);`;
    const parent = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(createInterface(parent.stdout), "line", { signal: AbortSignal.timeout(60_000) });
    const { directory, pids }: Pick<ClusterFacts, "directory"> & { pids: number[] } = JSON.parse(line);
    expect(pids.filter(isRunning)).toHaveLength(2);
    parent.kill(signal);
    await once(parent, "exit");
    for (let tries = 0; tries < 100 && existsSync(directory); tries++) await sleep(100);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  });
});

/** A process that has ended but that nobody has waited for yet, as in a container without an init, does not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

function condition(object: KubeObject, type: string): Record<string, string> | undefined {
  const conditions = (object.status?.["conditions"] ?? []) as Record<string, string>[];
  return conditions.find((each) => each["type"] === type);
}

const readPods = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: read-pods}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: robot-reads-pods}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: read-pods}
subjects: [{kind: ServiceAccount, name: robot}]
`;

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.test}
spec:
  group: example.test
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer, minimum: 0}}}, status: {type: object}}
`;

const aWidget = `
apiVersion: example.test/v1
kind: Widget
metadata: {name: one}
spec: {size: 1}
`;
