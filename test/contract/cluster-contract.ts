// What every implementation of ClusterWriter must do: the HTTP adapter on a real API server, on the sandbox, and fakes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import type { Pool, PoolStatus } from "../../src/model/resource.ts";
import type { ClusterWriter, LeaseRecord } from "../../src/ports/cluster.ts";

/** A Kubernetes object as YAML manifests write it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** A cluster with nobody else in it, and a way to put objects there that does not go through the port. */
export interface ContractWorld {
  readonly cluster: ClusterWriter;
  readonly seed: {
    /** Creates a FloatingIPPool with exactly this metadata, spec and status. */
    pool(manifest: Manifest): Promise<void>;
    /** Creates a Node with exactly these taints, labels, annotations and status. */
    node(manifest: Manifest): Promise<void>;
    /** Creates a Pod with exactly this spec and status. */
    pod(manifest: Manifest): Promise<void>;
    /** A namespace that exists and is this world's alone. */
    namespace(): string;
  };
  dispose(): Promise<void>;
}

/**
 * Declares the contract's tests. One world serves all of them; each test uses names of its own, prefixed by the namespace
 * where objects are cluster-scoped.
 */
export function clusterContract(name: string, makeWorld: () => Promise<ContractWorld>): void {
  describe(`cluster contract › ${name}`, () => {
    let world: ContractWorld;
    beforeAll(async () => {
      world = await makeWorld();
    }, 60_000);
    afterAll(async () => {
      await world?.dispose();
    });
    describePools(() => world);
    describeStatus(() => world);
    describeFinalizer(() => world);
    describeNodes(() => world);
    describePods(() => world);
    describeLease(() => world);
    describeEvents(() => world);
  });
}

function describePools(world: () => ContractWorld): void {
  test("listPools returns every pool with its spec defaulted, sorted by namespace and name", async () => {
    const { cluster, seed } = world();
    await seed.pool(aPool(world(), "list-b", { ips: ["192.0.2.1", "192.0.2.2"], desiredIPs: 1, region: "ams3" }));
    await seed.pool(aPool(world(), "list-a", { desiredIPs: 2 }));
    const pools = (await cluster.listPools()).filter(({ meta }) => meta.name.startsWith("list-"));
    expect(pools.map(({ meta }) => `${meta.namespace}/${meta.name}`)).toEqual([
      `${seed.namespace()}/list-a`,
      `${seed.namespace()}/list-b`,
    ]);
    expect(pools[1]?.spec).toEqual({
      provider: "digitalocean",
      region: "ams3",
      ips: ["192.0.2.1", "192.0.2.2"],
      desiredIPs: 1,
      assignmentCoolOffSeconds: 0,
      gracePeriodSeconds: 0,
      match: { nodeLabel: "", podNamespace: "", podLabel: "", tolerations: [] },
      reclaimPolicy: "Retain",
      foreignHolder: "Hold",
      suspend: false,
    });
    expect(pools[0]?.status).toEqual(EMPTY_STATUS);
    expect(pools[0]?.meta).toMatchObject({ isDeleting: false, finalizers: [], labels: {}, generation: 1 });
    expect(pools[0]?.meta.uid).not.toBe("");
    expect(pools[0]?.meta.resourceVersion).not.toBe("");
    expect(Math.abs((pools[0]?.meta.createdAtMs ?? 0) - Date.now())).toBeLessThan(120_000);
  });

  test("readPool returns the pool listPools shows, and undefined for a name that does not exist", async () => {
    const { cluster, seed } = world();
    const pool = await seeded(world(), "read", { ips: ["192.0.2.3"] });
    expect(await cluster.readPool({ namespace: seed.namespace(), name: "read" })).toEqual(pool);
    expect(await cluster.readPool({ namespace: seed.namespace(), name: "no-such-pool" })).toBeUndefined();
    expect(await cluster.readPool({ namespace: "no-such-namespace", name: "read" })).toBeUndefined();
  });

  test("a status and finalizers that were there before are read", async () => {
    const { cluster, seed } = world();
    const status = { ips: { "192.0.2.4": { state: "active", nodeName: "n", providerID: "digitalocean://1" } } };
    const manifest = aPool(world(), "seeded-status", { ips: ["192.0.2.4"] });
    await seed.pool({ ...manifest, status, metadata: { ...manifest.metadata, finalizers: ["example.com/theirs"] } });
    const pool = await cluster.readPool({ namespace: seed.namespace(), name: "seeded-status" });
    expect(pool?.status).toEqual({ ...EMPTY_STATUS, ...status });
    expect(pool?.meta.finalizers).toEqual(["example.com/theirs"]);
    if (pool !== undefined) await cluster.setPoolFinalizer({ ...pool.meta, finalizers: [] }, false);
  });
}

function describeStatus(world: () => ContractWorld): void {
  test("patchPoolStatus stores a full status that reads back as sent, and leaves spec and generation alone", async () => {
    const { cluster } = world();
    const before = await seeded(world(), "status-full", { ips: ["192.0.2.5"] });
    const stored = await cluster.patchPoolStatus(before.meta, FULL_STATUS);
    expect(stored.status).toEqual(FULL_STATUS);
    expect(stored.spec).toEqual(before.spec);
    expect(stored.meta.generation).toBe(before.meta.generation);
    expect(stored.meta.resourceVersion).not.toBe(before.meta.resourceVersion);
    expect(await cluster.readPool(before.meta)).toEqual(stored);
  });

  test("patchPoolStatus removes fields, map keys and members that are no longer sent", async () => {
    const { cluster } = world();
    const before = await seeded(world(), "status-prune", { ips: ["192.0.2.5"] });
    const full = await cluster.patchPoolStatus(before.meta, FULL_STATUS);
    const less: PoolStatus = {
      ...EMPTY_STATUS,
      observedGeneration: 1,
      ips: { "192.0.2.5": { state: "unassigned" } },
      nodeErrors: ["n: gone"],
    };
    const stored = await cluster.patchPoolStatus(full.meta, less);
    expect(stored.status).toEqual(less);
    const empty = await cluster.patchPoolStatus(stored.meta, EMPTY_STATUS);
    expect(empty.status).toEqual(EMPTY_STATUS);
    expect((await cluster.readPool(before.meta))?.status).toEqual(EMPTY_STATUS);
  });

  test("patchPoolStatus removes map keys also when it is given a copy of meta", async () => {
    const { cluster } = world();
    const before = await seeded(world(), "status-copy", { ips: ["192.0.2.5"] });
    const full = await cluster.patchPoolStatus({ ...before.meta }, FULL_STATUS);
    const less: PoolStatus = { ...EMPTY_STATUS, ips: { "192.0.2.9": { state: "active" } } };
    expect((await cluster.patchPoolStatus({ ...full.meta }, less)).status).toEqual(less);
  });

  test("patchPoolStatus with the stored status changes nothing, not even the resourceVersion", async () => {
    const { cluster } = world();
    const before = await seeded(world(), "status-noop", { ips: ["192.0.2.5"] });
    const first = await cluster.patchPoolStatus(before.meta, FULL_STATUS);
    expect(await cluster.patchPoolStatus(first.meta, FULL_STATUS)).toEqual(first);
  });

  test("patchPoolStatus with a resourceVersion that is no longer current is a conflict and changes nothing", async () => {
    const { cluster } = world();
    const before = await seeded(world(), "status-conflict", { ips: ["192.0.2.5"] });
    const stored = await cluster.patchPoolStatus(before.meta, { ...EMPTY_STATUS, error: "first" });
    await failsWith("conflict", cluster.patchPoolStatus(before.meta, { ...EMPTY_STATUS, error: "second" }));
    await failsWith("conflict", cluster.patchPoolStatus({ ...before.meta }, { ...EMPTY_STATUS, error: "third" }));
    expect((await cluster.readPool(before.meta))?.status).toEqual(stored.status);
  });

  test("patchPoolStatus of a pool that does not exist is not-found", async () => {
    const { cluster } = world();
    const { meta } = await seeded(world(), "status-gone", { ips: ["192.0.2.5"] });
    await failsWith("not-found", cluster.patchPoolStatus({ ...meta, name: "no-such-pool" }, EMPTY_STATUS));
  });
}

function describeFinalizer(world: () => ContractWorld): void {
  const ours = "flipop.digitalocean.com/cleanup";

  test("setPoolFinalizer adds ours beside those of others, removes only ours, and repeats without a change", async () => {
    const { cluster, seed } = world();
    const manifest = aPool(world(), "finalizer", { ips: ["192.0.2.6"] });
    await seed.pool({ ...manifest, metadata: { ...manifest.metadata, finalizers: ["example.com/theirs"] } });
    const before = await stored(world(), "finalizer");
    const added = await cluster.setPoolFinalizer(before.meta, true);
    expect(added.meta.finalizers.toSorted()).toEqual(["example.com/theirs", ours]);
    expect(await cluster.setPoolFinalizer(added.meta, true)).toEqual(added);
    const removed = await cluster.setPoolFinalizer(added.meta, false);
    expect(removed.meta.finalizers).toEqual(["example.com/theirs"]);
    expect(removed.spec).toEqual(before.spec);
    expect(await cluster.setPoolFinalizer(removed.meta, false)).toEqual(removed);
    await cluster.setPoolFinalizer({ ...removed.meta, finalizers: [] }, false);
  });

  test("setPoolFinalizer with a resourceVersion that is no longer current is a conflict", async () => {
    const { cluster } = world();
    const { meta } = await seeded(world(), "finalizer-conflict", { ips: ["192.0.2.6"] });
    await cluster.patchPoolStatus(meta, { ...EMPTY_STATUS, error: "changed" });
    await failsWith("conflict", cluster.setPoolFinalizer(meta, true));
    expect((await cluster.readPool(meta))?.meta.finalizers).toEqual([]);
  });

  test("setPoolFinalizer of a pool that does not exist is not-found", async () => {
    const { cluster } = world();
    const { meta } = await seeded(world(), "finalizer-gone", { ips: ["192.0.2.6"] });
    await failsWith("not-found", cluster.setPoolFinalizer({ ...meta, name: "no-such-pool" }, true));
  });
}

function describeNodes(world: () => ContractWorld): void {
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

function describePods(world: () => ContractWorld): void {
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

function describeLease(world: () => ContractWorld): void {
  test("createLease stores every field, and readLease shows it", async () => {
    const { cluster, seed } = world();
    expect(await cluster.readLease(seed.namespace(), "lease-create")).toBeUndefined();
    const lease = aLease(world(), "lease-create");
    const created = await cluster.createLease(lease);
    expect(created).toEqual({ ...lease, resourceVersion: created.resourceVersion });
    expect(created.resourceVersion).not.toBe("");
    expect(await cluster.readLease(seed.namespace(), "lease-create")).toEqual(created);
  });

  test("createLease of one that exists is already-exists, and without its namespace not-found", async () => {
    const { cluster } = world();
    await cluster.createLease(aLease(world(), "lease-twice"));
    await failsWith("already-exists", cluster.createLease(aLease(world(), "lease-twice")));
    await failsWith("not-found", cluster.createLease({ ...aLease(world(), "lease"), namespace: "no-such-namespace" }));
  });

  test("replaceLease changes holder, times and annotations, removes annotations, and can release", async () => {
    const { cluster, seed } = world();
    const created = await cluster.createLease(aLease(world(), "lease-replace"));
    const next: LeaseRecord = {
      ...created,
      holder: "other",
      renewTimeMs: created.renewTimeMs + 5_001,
      transitions: 1,
      annotations: { "example.com/b": "2" },
    };
    const replaced = await cluster.replaceLease(next);
    expect(replaced).toEqual({ ...next, resourceVersion: replaced.resourceVersion });
    expect(replaced.resourceVersion).not.toBe(created.resourceVersion);
    const released = await cluster.replaceLease({ ...replaced, holder: "" });
    expect(released.holder).toBe("");
    expect(await cluster.readLease(seed.namespace(), "lease-replace")).toEqual(released);
  });

  test("replaceLease with a resourceVersion that is no longer current is a conflict and changes nothing", async () => {
    const { cluster, seed } = world();
    const created = await cluster.createLease(aLease(world(), "lease-conflict"));
    const mine = await cluster.replaceLease({ ...created, holder: "mine" });
    await failsWith("conflict", cluster.replaceLease({ ...created, holder: "theirs" }));
    expect(await cluster.readLease(seed.namespace(), "lease-conflict")).toEqual(mine);
  });
}

function describeEvents(world: () => ContractWorld): void {
  test("createEvent accepts an Event, and the same one again", async () => {
    const { cluster } = world();
    const { meta } = await seeded(world(), "event", { ips: ["192.0.2.10"] });
    const event = {
      regarding: { kind: "FloatingIPPool", meta },
      type: "Normal",
      reason: "NodeMatched",
      action: "AssignIP",
      note: "ü".repeat(2_000),
    } as const;
    await cluster.createEvent(event);
    await cluster.createEvent(event);
    await expect(cluster.createEvent({ ...event, type: "Warning", note: "short" })).resolves.toBeUndefined();
  });

  test("now is the time, and server is a URL", async () => {
    const { cluster } = world();
    await cluster.listPools();
    expect(Math.abs(cluster.now() - Date.now())).toBeLessThan(5_000);
    expect(cluster.server).toMatch(/^https?:\/\//);
  });
}

/** The status of a pool nobody has served yet. */
export const EMPTY_STATUS: PoolStatus = {
  conditions: [],
  ips: {},
  assignableNodes: [],
  nodeErrors: [],
  acquired: [],
  pendingAcquisitions: [],
  released: [],
  retries: [],
};

const TIME = "2026-01-02T03:04:05Z";

/** A status with every field: a new one does not compile until it is here. */
export const FULL_STATUS: Required<PoolStatus> = {
  observedGeneration: 1,
  conditions: [
    {
      type: "Ready",
      status: "False",
      observedGeneration: 1,
      lastTransitionTime: TIME,
      reason: "NoActiveIP",
      message: "No address is active.",
    },
  ],
  error: "an error",
  ips: {
    "192.0.2.5": {
      state: "in-progress",
      nodeName: "node-1",
      providerID: "digitalocean://1",
      previousProviderID: "digitalocean://2",
      error: "locked",
      reason: "InProgress",
      notMatchingSince: TIME,
    } satisfies Required<PoolStatus["ips"][string]>,
    "192.0.2.9": { state: "unassigned" },
  },
  assignableNodes: ["node-2"],
  nodeErrors: ["node-3: odd"],
  acquired: [{ ip: "192.0.2.9", acquiredAt: TIME, adopted: true }],
  pendingAcquisitions: [
    { startedAt: TIME, region: "ams3", providerID: "digitalocean://1", nodeName: "node-1", knownIPs: ["192.0.2.9"] },
  ],
  released: [{ ip: "192.0.2.11", providerID: "digitalocean://3", nodeName: "node-3", acquired: true }],
  retries: [{ subject: "ip/192.0.2.5", attempts: 2, nextAttemptTime: TIME, error: "busy" }],
  lastAssignmentTime: TIME,
  assignments: 3,
};

function aPool({ seed }: ContractWorld, name: string, spec: Readonly<Record<string, unknown>>): Manifest {
  return {
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "FloatingIPPool",
    metadata: { namespace: seed.namespace(), name },
    spec: { provider: "digitalocean", match: {}, ...spec },
  };
}

async function seeded(world: ContractWorld, name: string, spec: Readonly<Record<string, unknown>>): Promise<Pool> {
  await world.seed.pool(aPool(world, name, spec));
  return await stored(world, name);
}

async function stored({ cluster, seed }: ContractWorld, name: string): Promise<Pool> {
  const pool = await cluster.readPool({ namespace: seed.namespace(), name });
  if (pool === undefined) throw new Error(`the pool ${name} was not seeded`);
  return pool;
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

function aLease({ seed }: ContractWorld, name: string): Omit<LeaseRecord, "resourceVersion"> {
  return {
    namespace: seed.namespace(),
    name,
    holder: "me",
    durationSeconds: 15,
    acquireTimeMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    renewTimeMs: Date.UTC(2026, 0, 2, 3, 4, 6, 789),
    transitions: 0,
    annotations: { "example.com/a": "1" },
  };
}

async function failsWith(failure: KubeError["failure"], call: Promise<unknown>): Promise<void> {
  const error = await call.then(
    () => new Error("it succeeded"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(KubeError);
  expect((error as KubeError).failure).toBe(failure);
}
