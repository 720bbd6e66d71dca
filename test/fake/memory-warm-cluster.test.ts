import { expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import type { JSONObject } from "../../src/sandbox/kubernetes/object-store.ts";
import { MemoryWarmCluster } from "./memory-warm-cluster.ts";

const away = new KubeError({ failure: "unavailable", operation: "", subject: "", status: 0, message: "away" });
const aNode = (name: string, rest: JSONObject = {}): JSONObject => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name },
  ...rest,
});
const aPod = (name: string, app: string): JSONObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", labels: { app } },
  spec: { nodeName: "n", containers: [{ name: "main", image: "example.test/none" }] },
});

function aWarmCluster(): { readonly cluster: MemoryWarmCluster; readonly heard: string[] } {
  const cluster = new MemoryWarmCluster();
  const heard: string[] = [];
  cluster.onChange(({ kind, subject }) => heard.push(`${kind} ${subject}`));
  return { cluster, heard };
}

test("a list is read once, and changes are announced and in it from then on", async () => {
  const { cluster, heard } = aWarmCluster();
  cluster.sandbox.write(aNode("b"));
  expect((await cluster.listNodes()).map(({ name }) => name)).toEqual(["b"]);
  cluster.beforeCall = () => ({ throw: away });
  cluster.sandbox.write(aNode("a"));
  expect((await cluster.listNodes()).map(({ name }) => name)).toEqual(["a", "b"]);
  expect(heard).toEqual(["node a"]);
});

test("what nobody listed is not announced, and neither is a heartbeat", async () => {
  const { cluster, heard } = aWarmCluster();
  cluster.sandbox.write(aNode("a"));
  await cluster.listPods({ namespace: "", label: "app=web" });
  cluster.sandbox.write(aNode("b"));
  await cluster.listNodes();
  cluster.sandbox.write(aNode("a", { status: { nodeInfo: { kernelVersion: "2" } } }));
  cluster.sandbox.write(aPod("other", "db"));
  cluster.sandbox.write(aPod("wanted", "web"));
  expect(heard).toEqual(["pod default/wanted"]);
});

test("a pod whose label no longer fits leaves the list", async () => {
  const { cluster, heard } = aWarmCluster();
  cluster.sandbox.write(aPod("a", "web"));
  const selector = { namespace: "default", label: "app=web" };
  expect(await cluster.listPods(selector)).toHaveLength(1);
  cluster.sandbox.write(aPod("a", "db"));
  expect(await cluster.listPods(selector)).toEqual([]);
  expect(heard).toEqual(["pod default/a"]);
});

test("an own write is in the list at once and not announced, but what came with it is", async () => {
  const { cluster, heard } = aWarmCluster();
  cluster.sandbox.write(aNode("a"));
  await cluster.listNodes();
  cluster.delay();
  await cluster.annotateNode("a", { address: "192.0.2.1", pool: "n/p" });
  expect(await cluster.listNodes()).toMatchObject([{ addressAnnotation: "192.0.2.1" }]);
  expect(heard).toEqual([]);
  cluster.sandbox.write(aNode("a", { spec: { providerID: "digitalocean://1" } }));
  expect(await cluster.listNodes()).toMatchObject([{ providerID: "" }]);
  await cluster.annotateNode("a", { address: "192.0.2.2", pool: "n/p" });
  expect(await cluster.listNodes()).toMatchObject([{ providerID: "digitalocean://1", addressAnnotation: "192.0.2.2" }]);
  cluster.reconnect();
  expect(heard).toEqual(["node a"]);
});

test("while watches are broken lists fail; afterwards what happened meanwhile is announced", async () => {
  const { cluster, heard } = aWarmCluster();
  await cluster.listNodes();
  cluster.disconnect(away, 7);
  cluster.sandbox.write(aNode("a"));
  await expect(cluster.listNodes()).rejects.toBe(away);
  expect(cluster.staleness()).toEqual({ sinceMs: 7, error: away });
  expect(heard).toEqual([]);
  cluster.reconnect();
  expect(cluster.staleness()).toBeUndefined();
  expect(await cluster.listNodes()).toHaveLength(1);
  expect(heard).toEqual(["node a"]);
});

test("after close nothing is announced", async () => {
  const { cluster, heard } = aWarmCluster();
  await cluster.listNodes();
  cluster.close();
  cluster.sandbox.write(aNode("a"));
  expect(heard).toEqual([]);
});
