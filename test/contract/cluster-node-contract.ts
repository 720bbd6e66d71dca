import { expect, test } from "vitest";
import type { ContractWorld, Manifest } from "./cluster-world.ts";
import { failsWith } from "./fails-with.ts";

const TIME = "2026-01-02T03:04:05Z";

/** Declares the tests of listNodes, readNode and annotateNode. */
export function describeNodes(world: () => ContractWorld): void {
  test("listNodes returns what flipop needs of every node, sorted by name", async () => {
    const { cluster, seed } = world();
    const name = (suffix: string): string => `${seed.namespace()}-${suffix}`;
    await seed.node({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: name("list-2"), labels: { role: "web" }, annotations: { "example.com/a": "b" } },
      spec: {
        providerID: "digitalocean://42",
        taints: [{ key: "example.com/drain", value: "yes", effect: "NoExecute", timeAdded: "2026-01-02T03:04:05Z" }],
      },
      status: {
        conditions: [
          { type: "MemoryPressure", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" },
          { type: "Ready", status: "True", lastTransitionTime: "2026-01-02T03:04:05Z" },
        ],
        addresses: [
          { type: "Hostname", address: "host" },
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "ExternalIP", address: "192.0.2.7" },
        ],
      },
    });
    await seed.node(aNode(name("list-1"), { status: "Unknown" }));
    const nodes = (await cluster.listNodes()).filter((node) => node.name.startsWith(name("list-")));
    expect(nodes.map((node) => node.name)).toEqual([name("list-1"), name("list-2")]);
    expect(nodes[0]).toMatchObject({ providerID: "", taints: [], addresses: [], ready: { isReady: false } });
    expect(nodes[1]).toMatchObject({
      providerID: "digitalocean://42",
      taints: [
        { key: "example.com/drain", value: "yes", effect: "NoExecute", timeAddedMs: Date.UTC(2026, 0, 2, 3, 4, 5) },
      ],
      ready: { isReady: true, sinceMs: Date.UTC(2026, 0, 2, 3, 4, 5) },
      isDeleting: false,
      addresses: [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "ExternalIP", address: "192.0.2.7" },
      ],
    });
    expect(nodes[1]?.labels["role"]).toBe("web");
    expect(nodes[1]).not.toHaveProperty("addressAnnotation");
    expect(await cluster.readNode(name("list-2"))).toEqual(nodes[1]);
    expect(await cluster.readNode(name("no-such-node"))).toBeUndefined();
  });

  test("annotateNode sets and removes our two annotations one by one, and repeats without a change", async () => {
    const { cluster, seed } = world();
    const name = `${seed.namespace()}-annotate`;
    await seed.node(aNode(name, { status: "True" }));
    await cluster.annotateNode(name, { address: "192.0.2.8", pool: "ns/web" });
    const both = await cluster.readNode(name);
    expect(both).toMatchObject({ addressAnnotation: "192.0.2.8", poolAnnotation: "ns/web" });
    await cluster.annotateNode(name, { address: "192.0.2.8", pool: "ns/web" });
    expect(await cluster.readNode(name)).toEqual(both);
    await cluster.annotateNode(name, { address: null, pool: "ns/web" });
    expect(await cluster.readNode(name)).not.toHaveProperty("addressAnnotation");
    expect(await cluster.readNode(name)).toMatchObject({ poolAnnotation: "ns/web" });
    await cluster.annotateNode(name, { address: null, pool: null });
    const none = await cluster.readNode(name);
    expect(none).not.toHaveProperty("poolAnnotation");
    await cluster.annotateNode(name, { address: null, pool: null });
    expect(await cluster.readNode(name)).toEqual(none);
  });

  test("annotateNode of a node that does not exist is not-found", async () => {
    const { cluster, seed } = world();
    const gone = cluster.annotateNode(`${seed.namespace()}-no-such-node`, { address: "192.0.2.8", pool: "a/b" });
    await failsWith("not-found", gone);
  });
}

/** Declares the tests of listPods. */
export function describePods(world: () => ContractWorld): void {
  test("listPods returns the pods bound to a node that namespace and label select, finished ones aside", async () => {
    const { cluster, seed } = world();
    const namespace = seed.namespace();
    const app = { app: namespace };
    const since = "2026-01-02T03:04:05Z";
    const ready = [{ type: "Ready", status: "True", lastTransitionTime: since }];
    const unready = [{ type: "Ready", status: "False", lastTransitionTime: since }];
    await seed.pod(aPod(world(), "ready", { labels: app, phase: "Running", conditions: ready }));
    await seed.pod(aPod(world(), "unready", { labels: app, phase: "Running", conditions: unready }));
    await seed.pod(aPod(world(), "pending", { labels: app, phase: "Pending", conditions: [] }));
    await seed.pod(aPod(world(), "done", { labels: app, phase: "Succeeded", conditions: unready }));
    await seed.pod(aPod(world(), "failed", { labels: app, phase: "Failed", conditions: unready }));
    await seed.pod(aPod(world(), "other", { labels: { app: "other" }, phase: "Running", conditions: ready }));
    await seed.pod(aPod(world(), "unbound", { labels: app, phase: "Pending", conditions: [], nodeName: undefined }));
    const names = async (selector: { namespace: string; label: string }): Promise<string[]> =>
      (await cluster.listPods(selector)).map((pod) => pod.name).toSorted();
    const label = `app in (${namespace},none),!absent`;
    expect(await names({ namespace, label })).toEqual(["pending", "ready", "unready"]);
    expect(await names({ namespace: "", label })).toEqual(["pending", "ready", "unready"]);
    expect(await names({ namespace, label: "" })).toEqual(["other", "pending", "ready", "unready"]);
    expect(await names({ namespace: "no-such-namespace", label: "" })).toEqual([]);
    const pods = await cluster.listPods({ namespace, label });
    const sinceMs = Date.parse(since);
    expect(pods.find((pod) => pod.name === "ready")).toEqual({
      namespace,
      name: "ready",
      nodeName: "node-1",
      phase: "Running",
      ready: { isReady: true, sinceMs },
    });
    expect(pods.find((pod) => pod.name === "unready")).toMatchObject({ ready: { isReady: false, sinceMs } });
  });

  test("a label selector the server cannot parse is invalid", async () => {
    await failsWith("invalid", world().cluster.listPods({ namespace: "", label: "a in b" }));
  });
}

function aNode(name: string, ready: { readonly status: string }): Manifest {
  const condition = { type: "Ready", status: ready.status, lastTransitionTime: TIME };
  return { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {}, status: { conditions: [condition] } };
}

function aPod(
  { seed }: ContractWorld,
  name: string,
  facts: {
    readonly labels: Readonly<Record<string, string>>;
    readonly phase: string;
    readonly conditions: readonly unknown[];
    readonly nodeName?: undefined;
  },
): Manifest {
  const isBound = !("nodeName" in facts);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: seed.namespace(), name, labels: facts.labels },
    spec: { containers: [{ name: "main", image: "example.test/none" }], ...(isBound ? { nodeName: "node-1" } : {}) },
    status: { phase: facts.phase, conditions: facts.conditions },
  };
}
