import { expect, test } from "vitest";
import type { PoolStatus } from "../../src/model/resource.ts";
import { aPool, type ContractWorld, seeded, stored } from "./cluster-world.ts";
import { failsWith } from "./fails-with.ts";
import { EMPTY_STATUS, FULL_STATUS } from "./pool-status-samples.ts";

/** Declares the tests of listPools, readPool, patchPoolStatus and setPoolFinalizer. */
export function describePools(world: () => ContractWorld): void {
  describeReading(world);
  describeStatus(world);
  describeFinalizer(world);
}

function describeReading(world: () => ContractWorld): void {
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
