import { expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import type { JSONObject } from "../../src/sandbox/kubernetes/object-store.ts";
import { MemoryCluster } from "../fake/memory-cluster.ts";
import { MemoryWarmCluster } from "../fake/memory-warm-cluster.ts";
import { clusterContract } from "./cluster-contract.ts";
import type { ContractWorld, Manifest } from "./cluster-world.ts";
import { failsWith } from "./fails-with.ts";
import { olderCRD } from "./older-crd.ts";

// The same contract runs on the HTTP adapter: on the sandbox and on a real API server, see test/adapters/kube.
clusterContract("memory", () => memoryWorld(new MemoryCluster()));
clusterContract("memory, kept warm", () => memoryWorld(new MemoryWarmCluster()));

async function memoryWorld(cluster: MemoryCluster): Promise<ContractWorld> {
  const write = async (manifest: Manifest): Promise<void> => cluster.sandbox.write(manifest as unknown as JSONObject);
  await write({ apiVersion: "v1", kind: "Namespace", metadata: { name: "contract" } });
  const seed = {
    object: write,
    node: write,
    pod: write,
    service: write,
    namespace: () => "contract",
    olderCRD: async (name: string, field: string) => {
      const { older, shipped } = olderCRD(name, field);
      await write(older);
      return () => write(shipped);
    },
  };
  return { cluster, seed, dispose: async () => undefined };
}

const broken = new KubeError({ failure: "unavailable", operation: "", subject: "", status: 0, message: "broken" });

function clusterWithNode(): MemoryCluster {
  const cluster = new MemoryCluster({ now: () => Date.UTC(2026, 0, 2) });
  cluster.sandbox.write({ apiVersion: "v1", kind: "Node", metadata: { name: "worker-1" } });
  return cluster;
}

test("a fault before a call keeps it from taking effect", async () => {
  const cluster = clusterWithNode();
  cluster.beforeCall = (operation) => (operation === "patch nodes" ? { throw: broken } : undefined);
  await failsWith("unavailable", cluster.annotateNode("worker-1", { address: "192.0.2.1", pool: "a/b" }));
  expect(await cluster.readNode("worker-1")).not.toHaveProperty("addressAnnotation");
});

test("a fault after a call lets it take effect", async () => {
  const cluster = clusterWithNode();
  cluster.beforeCall = (operation) => (operation === "patch nodes" ? { throwAfter: broken } : undefined);
  await failsWith("unavailable", cluster.annotateNode("worker-1", { address: "192.0.2.1", pool: "a/b" }));
  expect(await cluster.readNode("worker-1")).toMatchObject({ addressAnnotation: "192.0.2.1" });
});

test("writes are recorded in order, reads are not", async () => {
  const cluster = clusterWithNode();
  await cluster.listNodes();
  await cluster.annotateNode("worker-1", { address: "192.0.2.1", pool: "a/b" });
  await failsWith("not-found", cluster.annotateNode("worker-2", { address: null, pool: null }));
  expect(cluster.writes).toEqual([
    { operation: "patch nodes", subject: "worker-1" },
    { operation: "patch nodes", subject: "worker-2" },
  ]);
});

test("a Lease that was deleted is not brought back by the one who had read it", async () => {
  const cluster = clusterWithNode();
  const times = { acquireTimeMs: 1, renewTimeMs: 1, durationSeconds: 15, transitions: 0 };
  const lease = await cluster.createLease({ namespace: "default", name: "l", holder: "me", annotations: {}, ...times });
  const { api } = cluster.sandbox;
  const type = api.types.byKind("coordination.k8s.io/v1", "Lease");
  if (type !== undefined) api.remove(type, "default/l");
  await failsWith("conflict", cluster.replaceLease({ ...lease, renewTimeMs: 2 }));
  expect(await cluster.readLease("default", "l")).toBeUndefined();
});

test("now is the clock it was given", () => {
  expect(clusterWithNode().now()).toBe(Date.UTC(2026, 0, 2));
});
