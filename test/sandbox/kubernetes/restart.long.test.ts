import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NODES, POOLS, WorldDirectory } from "./world-directory.ts";

const POOL = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/ingress/floatingippools/web";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

let world: WorldDirectory;
beforeEach(() => {
  world = new WorldDirectory();
  world.write("pools.yaml", POOLS);
  world.write("nodes.yaml", NODES);
});
afterEach(() => world.remove());

test("everything is as it was after a restart: objects, uids, versions, generations, times", () => {
  const client = world.open();
  client.call("POST", LEASES, { metadata: { name: "lock" }, spec: { holderIdentity: "me", leaseDurationSeconds: 15 } });
  client.call("PATCH", POOL, { spec: { region: "nyc3" } });
  client.call("PATCH", `${POOL}/status`, { status: { observedGeneration: 2 } });
  const paths = [POOL, `${LEASES}/lock`, "/api/v1/nodes", "/api/v1/namespaces", CRDS];
  const before = paths.map((path) => client.call("GET", path));
  world.passMs(3_600_000);
  const again = world.open();
  expect(paths.map((path) => again.call("GET", path))).toEqual(before);
});

test("an edit between two runs is a new version, and a new generation when it is of the spec", () => {
  const { metadata } = world.open().call("GET", POOL);
  world.edit("pools.yaml", "provider: digitalocean", "provider: nobody");
  const after = world.open().call("GET", POOL).metadata;
  expect(after).toMatchObject({ uid: metadata.uid, creationTimestamp: metadata.creationTimestamp, generation: 2 });
  expect(Number(after.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
});

test("resource versions go on counting after a restart, whatever was deleted meanwhile", () => {
  const client = world.open();
  const { metadata } = client.call("POST", LEASES, { metadata: { name: "lock" }, spec: {} });
  client.call("DELETE", `${LEASES}/lock`);
  const again = world.open().call("POST", LEASES, { metadata: { name: "lock" }, spec: {} });
  expect(Number(again.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion) + 1);
  expect(again.metadata.uid).not.toBe(metadata.uid);
});

test("an object that is being deleted is still so after a restart", () => {
  const client = world.open();
  client.call("PATCH", POOL, { metadata: { finalizers: ["a.test/x"] } });
  const { metadata } = client.call("DELETE", POOL);
  expect(metadata).toHaveProperty("deletionTimestamp", "2026-01-02T03:04:05Z");
  const again = world.open();
  expect(again.call("GET", POOL).metadata).toEqual(metadata);
  again.call("PATCH", POOL, { metadata: { finalizers: null } });
  expect(again.send("GET", POOL).status).toBe(404);
  expect(world.read("pools.yaml")).toBe("# Try something.\n\n");
});

test("a copy of the files without the server's memory continues the generation of its status", () => {
  const client = world.open();
  client.call("PATCH", POOL, { spec: { region: "nyc3" } });
  client.call("PATCH", `${POOL}/status`, { status: { observedGeneration: 2 } });
  rmSync(join(world.path, ".kubernetes.json"));
  world.passMs(3_600_000);
  expect(world.open().call("GET", POOL).metadata).toMatchObject({
    generation: 2,
    creationTimestamp: "2026-01-02T03:04:05Z",
  });
});

test("a memory that cannot be read is no obstacle", () => {
  world.open();
  world.write(".kubernetes.json", "{");
  expect(world.open().names("/api/v1/nodes")).toEqual(["worker-1", "worker-2"]);
});

test("the definitions of the project are there without being written down, and a changed one is", () => {
  const client = world.open();
  const name = "floatingippools.flipop.digitalocean.com";
  expect(client.names(CRDS)).toContain(name);
  client.call("PATCH", "/api/v1/nodes/worker-1", { metadata: { labels: { a: "b" } } });
  client.call("POST", LEASES, { metadata: { name: "lock" }, spec: {} });
  expect(world.read("cluster.yaml")).not.toContain(name);
  client.call("PATCH", `${CRDS}/${name}`, { metadata: { labels: { changed: "yes" } } });
  expect(world.read("cluster.yaml")).toContain(name);
  expect(world.open().call("GET", `${CRDS}/${name}`).metadata.labels).toHaveProperty("changed", "yes");
});

test("two sandboxes on one directory see each other's writes", () => {
  const [one, two] = [world.open(), world.open()];
  const lease = one.call("POST", LEASES, { metadata: { name: "lock" }, spec: { holderIdentity: "one" } });
  const seen = two.call("GET", `${LEASES}/lock`);
  // Each counts its own resource versions; identity and content are shared.
  expect(seen).toMatchObject({ metadata: { uid: lease.metadata.uid }, spec: { holderIdentity: "one" } });
  two.call("PUT", `${LEASES}/lock`, { ...seen, spec: { holderIdentity: "two" } });
  expect(one.send("PUT", `${LEASES}/lock`, { ...lease, spec: { holderIdentity: "one again" } }).status).toBe(409);
  expect(one.call("GET", `${LEASES}/lock`).spec).toEqual({ holderIdentity: "two" });
});
