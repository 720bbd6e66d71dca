import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NODES, POOLS, WorldDirectory } from "./world-directory.ts";

const POOL = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/ingress/floatingippools/web";

let world: WorldDirectory;
beforeEach(() => {
  world = new WorldDirectory();
  world.write("pools.yaml", POOLS);
  world.write("nodes.yaml", NODES);
});
afterEach(() => world.remove());

test("apiVersion and kind are those of the file, and the server's metadata is filled in", () => {
  const pool = world.open().call("GET", POOL);
  expect(pool).toMatchObject({
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "FloatingIPPool",
    metadata: { generation: 1, creationTimestamp: "2026-01-02T03:04:05Z" },
  });
  expect(pool.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  expect(Number(pool.metadata.resourceVersion)).toBeGreaterThan(0);
});

test("reading does not touch a file that a person wrote", () => {
  const client = world.open();
  client.call("GET", POOL);
  world.edit("pools.yaml", "203.0.113.10", "203.0.113.11");
  client.call("GET", POOL);
  expect(world.read("pools.yaml")).toBe(POOLS.replace("203.0.113.10", "203.0.113.11"));
});

test("an edit between two requests is a new resourceVersion, and a new generation when it is of the spec", () => {
  const client = world.open();
  const before = client.call("GET", POOL).metadata;
  world.edit("pools.yaml", "name: web", "name: web\n  labels: {a: b}");
  const labelled = client.call("GET", POOL).metadata;
  expect(labelled).toMatchObject({ labels: { a: "b" }, uid: before.uid, generation: 1 });
  expect(Number(labelled.resourceVersion)).toBeGreaterThan(Number(before.resourceVersion));
  world.edit("pools.yaml", "provider: digitalocean", "provider: nobody");
  expect(client.call("GET", POOL).metadata).toMatchObject({ uid: before.uid, generation: 2 });
});

test("an edit is a conflict for a write that was prepared before it", () => {
  const client = world.open();
  const { metadata } = client.call("GET", POOL);
  world.edit("pools.yaml", "203.0.113.10", "203.0.113.11");
  const patch = { metadata: { resourceVersion: metadata.resourceVersion }, status: { error: "x" } };
  expect(client.send("PATCH", `${POOL}/status`, patch).status).toBe(409);
});

test("a saved file without an edit changes nothing", async () => {
  const client = world.open();
  const before = client.call("GET", POOL);
  // The file system's clock may be coarse.
  await sleep(20);
  world.write("pools.yaml", POOLS);
  expect(client.call("GET", POOL)).toEqual(before);
});

test("an object removed from its file is gone, one that is added is there", () => {
  const client = world.open();
  world.write("nodes.yaml", "metadata: {name: worker-2}\n---\nmetadata: {name: worker-3}\n");
  expect(client.names("/api/v1/nodes")).toEqual(["worker-2", "worker-3"]);
});

test("a status written by hand is seen, a write of the API leaves it in the file", () => {
  const client = world.open();
  world.edit("nodes.yaml", 'status: "True"', 'status: "False"');
  expect(client.call("GET", "/api/v1/nodes/worker-1").status).toEqual({
    conditions: [{ type: "Ready", status: "False" }],
  });
  client.call("PATCH", "/api/v1/nodes/worker-1", { metadata: { annotations: { a: "b" } } });
  expect(world.read("nodes.yaml")).toContain('status: "False"');
});

test("what the API writes is tidy YAML under the person's own head comment, other files stay as they are", () => {
  world.open().call("PATCH", `${POOL}/status`, { status: { ips: { "203.0.113.10": { state: "active" } } } });
  expect(world.read("pools.yaml")).toBe(`# Try something.

apiVersion: flipop.digitalocean.com/v1alpha1
kind: FloatingIPPool
metadata:
  name: web
  namespace: ingress
  creationTimestamp: 2026-01-02T03:04:05Z
spec:
  provider: digitalocean
  ips:
    - 203.0.113.10
  match: {}
status:
  ips:
    203.0.113.10:
      state: active
`);
  expect(world.read("nodes.yaml")).toBe(NODES);
});

test("the namespace of a hand-written object exists, and is written down as small as it can be", () => {
  const client = world.open();
  expect(client.call("GET", "/api/v1/namespaces/ingress").status).toEqual({ phase: "Active" });
  expect(world.read("cluster.yaml")).toMatch(
    /^# .*\n\napiVersion: v1\nkind: Namespace\nmetadata:\n {2}name: ingress\n {2}creationTimestamp: \S+\n$/,
  );
});

test("an object without a namespace is in default", () => {
  world.edit("pools.yaml", "  namespace: ingress\n", "");
  expect(world.open().call("GET", POOL.replace("ingress", "default")).metadata.name).toBe("web");
});

test("a watch that is open sees an edit within a second", async () => {
  const client = world.open();
  const { metadata } = client.call("GET", "/api/v1/nodes");
  const ended = new AbortController();
  const line = new Promise<string>((resolve) => {
    const stream = client.watch(`/api/v1/nodes?watch=true&resourceVersion=${metadata.resourceVersion}`);
    stream(resolve, ended.signal).catch(() => undefined);
  });
  world.edit("nodes.yaml", "name: worker-2", "name: worker-2, labels: {a: b}");
  expect(JSON.parse(await line)).toMatchObject({ type: "MODIFIED", object: { metadata: { name: "worker-2" } } });
  ended.abort();
});

test("a taint that a person writes or takes away by hand stays as it was written", () => {
  const client = world.open();
  const taint = "{key: node.kubernetes.io/unschedulable, effect: NoSchedule}";
  world.edit("nodes.yaml", "metadata: {name: worker-2}", `metadata: {name: worker-2}\nspec: {taints: [${taint}]}`);
  const written = [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }];
  expect(client.call("GET", TAINTS).spec).toEqual({ taints: written });
  expect(client.call("GET", TAINTS).spec).toEqual({ taints: written });
});

const TAINTS = "/api/v1/nodes/worker-2";

test("a cordoned node gets the taint that a cluster gives it, and loses it with the cordon", () => {
  const client = world.open();
  client.call("PATCH", TAINTS, { spec: { unschedulable: true, taints: [{ key: "a", effect: "NoExecute" }] } });
  const cordon = {
    key: "node.kubernetes.io/unschedulable",
    effect: "NoSchedule",
    timeAdded: "2026-01-02T03:04:05Z",
  };
  const cordoned = client.call("GET", TAINTS);
  expect(cordoned.spec?.["taints"]).toEqual([{ key: "a", effect: "NoExecute" }, cordon]);
  expect(client.call("GET", TAINTS)).toEqual(cordoned);
  expect(world.read("nodes.yaml")).toContain("node.kubernetes.io/unschedulable");
  world.edit("nodes.yaml", "  unschedulable: true\n", "");
  expect(client.call("GET", TAINTS).spec).toEqual({ taints: [{ key: "a", effect: "NoExecute" }] });
});

test("a pod that the API deleted ends where its node is ready, one that a person marks goes on terminating", () => {
  const pod = (name: string, node: string): string =>
    `metadata: {name: ${name}, namespace: web}\nspec: {nodeName: ${node}, containers: []}\nstatus: {phase: Running}\n`;
  const marked = pod("c", "worker-1").replace("namespace", 'deletionTimestamp: "2026-01-06T12:00:00Z", namespace');
  world.write("pods.yaml", [pod("a", "worker-1"), pod("b", "worker-2"), marked].join("---\n"));
  const client = world.open();
  const pods = "/api/v1/namespaces/web/pods";
  for (const name of ["a", "b"]) client.call("DELETE", `${pods}/${name}`);
  expect(client.names(pods)).toEqual(["b", "c"]);
  world.edit(
    "nodes.yaml",
    "metadata: {name: worker-2}",
    'metadata: {name: worker-2}\nstatus: {conditions: [{type: Ready, status: "True"}]}',
  );
  expect(client.names(pods)).toEqual(["c"]);
});

test("what a person changes in a file is theirs, where it is known whose a field is", () => {
  const client = world.open();
  const managers = (): readonly unknown[] =>
    ((client.call("GET", POOL).metadata as Record<string, unknown>)["managedFields"] as object[] | undefined) ?? [];
  world.edit("pools.yaml", "203.0.113.10", "203.0.113.11");
  expect(managers()).toEqual([]);
  client.call("POST", "/api/v1/namespaces/ingress/services", { metadata: { name: "s" }, spec: { type: "NodePort" } });
  world.edit("services.yaml", "NodePort", "ClusterIP");
  const { metadata } = client.call("GET", "/api/v1/namespaces/ingress/services/s");
  expect(metadata).toMatchObject({
    managedFields: [
      { manager: "by-hand", operation: "Update", fieldsV1: { "f:spec": { "f:type": {} } } },
      { manager: "unknown" },
    ],
  });
});
