import { describe, expect, test } from "vitest";
import { type CustomKind, manifestOf, seeded, stored } from "./cluster-custom-kind.ts";
import type { ContractWorld } from "./cluster-world.ts";
import { failsWith } from "./fails-with.ts";

/** Declares the tests of the port's four methods for one custom resource: list, read, patch the status, set the finalizer. */
export function describeCustom<Status extends object>(kind: CustomKind<Status>, world: () => ContractWorld): void {
  describe(kind.kind, () => {
    describeReading(kind, world);
    describeStatus(kind, world);
    describeConflicts(kind, world);
    describeFinalizer(kind, world);
  });
}

function describeReading<Status extends object>(kind: CustomKind<Status>, world: () => ContractWorld): void {
  test("a list has every object with its spec defaulted, sorted by namespace and name", async () => {
    const { cluster, seed } = world();
    for (const name of ["list-b", "list-a"]) await seed.object(manifestOf(kind, world(), name));
    const [first, second, ...rest] = (await kind.list(cluster)).filter(({ meta }) => meta.name.startsWith("list-"));
    expect([first?.meta.name, second?.meta.name, rest]).toEqual(["list-a", "list-b", []]);
    expect(first?.meta.namespace).toBe(seed.namespace());
    expect(first?.spec).toEqual(kind.minimal.decoded);
    expect(first?.status).toEqual(kind.empty);
    expect(first).not.toHaveProperty("decodeError");
    expect(first?.meta).toMatchObject({ isDeleting: false, finalizers: [], labels: {}, generation: 1 });
    expect(first?.meta.uid).not.toBe("");
    expect(first?.meta.resourceVersion).not.toBe("");
    expect(Math.abs((first?.meta.createdAtMs ?? 0) - Date.now())).toBeLessThan(120_000);
  });

  test("a single read gives what the list shows, and undefined for a name that does not exist", async () => {
    const { cluster, seed } = world();
    const object = await seeded(kind, world(), "read");
    expect((await kind.list(cluster)).find(({ meta }) => meta.uid === object.meta.uid)).toEqual(object);
    expect(await kind.read(cluster, { namespace: seed.namespace(), name: "no-such-name" })).toBeUndefined();
    expect(await kind.read(cluster, { namespace: "no-such-namespace", name: "read" })).toBeUndefined();
  });

  test("a status and finalizers that were there before are read", async () => {
    const { cluster, seed } = world();
    const manifest = manifestOf(kind, world(), "seeded-status");
    const metadata = { ...manifest.metadata, finalizers: ["example.com/theirs"] };
    await seed.object({ ...manifest, status: kind.full, metadata });
    const object = await stored(kind, world(), "seeded-status");
    expect(object.status).toEqual(kind.full);
    expect(object.meta.finalizers).toEqual(["example.com/theirs"]);
    await kind.setFinalizer(cluster, { ...object.meta, finalizers: [] }, false);
  });
}

function describeStatus<Status extends object>(kind: CustomKind<Status>, world: () => ContractWorld): void {
  test("a full status is stored and read back as sent, and spec and generation stay", async () => {
    const { cluster } = world();
    const before = await seeded(kind, world(), "status-full");
    const after = await kind.patchStatus(cluster, before.meta, kind.full);
    expect(after.status).toEqual(kind.full);
    expect(after.spec).toEqual(before.spec);
    expect(after.meta.generation).toBe(before.meta.generation);
    expect(after.meta.resourceVersion).not.toBe(before.meta.resourceVersion);
    expect(await kind.read(cluster, before.meta)).toEqual(after);
  });

  test("fields, entries and members of a status that are no longer sent are removed", async () => {
    const { cluster } = world();
    const before = await seeded(kind, world(), "status-less");
    const full = await kind.patchStatus(cluster, before.meta, kind.full);
    const less = await kind.patchStatus(cluster, full.meta, kind.less);
    expect(less.status).toEqual(kind.less);
    expect((await kind.patchStatus(cluster, less.meta, kind.empty)).status).toEqual(kind.empty);
    expect((await kind.read(cluster, before.meta))?.status).toEqual(kind.empty);
  });

  test("they are removed also when the call is given a copy of meta", async () => {
    const { cluster } = world();
    const before = await seeded(kind, world(), "status-copy");
    const full = await kind.patchStatus(cluster, { ...before.meta }, kind.full);
    expect((await kind.patchStatus(cluster, { ...full.meta }, kind.less)).status).toEqual(kind.less);
  });

  test("sending the stored status changes nothing, not even the resourceVersion", async () => {
    const { cluster } = world();
    const before = await seeded(kind, world(), "status-noop");
    const first = await kind.patchStatus(cluster, before.meta, kind.full);
    expect(await kind.patchStatus(cluster, first.meta, kind.full)).toEqual(first);
  });

  test("a field that an old CRD does not know is missing from the answer, and the rest of the status is stored", async () => {
    const { cluster, seed } = world();
    const before = await seeded(kind, world(), "status-pruned");
    const patched = async (): Promise<Status> => {
      const { meta } = await stored(kind, world(), "status-pruned");
      return (await kind.patchStatus(cluster, meta, kind.full)).status;
    };
    const restore = await seed.olderCRD(kind.crd, "formerDNS");
    try {
      await expect.poll(patched).toEqual({ ...kind.full, formerDNS: [] });
      expect((await kind.read(cluster, before.meta))?.status).toEqual({ ...kind.full, formerDNS: [] });
    } finally {
      await restore();
    }
    await expect.poll(patched).toEqual(kind.full);
  });
}

function describeConflicts<Status extends object>(kind: CustomKind<Status>, world: () => ContractWorld): void {
  test("a status for a resourceVersion that is no longer current is a conflict and changes nothing", async () => {
    const { cluster } = world();
    const before = await seeded(kind, world(), "status-conflict");
    const [first, second] = kind.twoErrors;
    await kind.patchStatus(cluster, before.meta, first);
    await failsWith("conflict", kind.patchStatus(cluster, before.meta, second));
    await failsWith("conflict", kind.patchStatus(cluster, { ...before.meta }, second));
    expect((await kind.read(cluster, before.meta))?.status).toEqual(first);
  });

  test("a finalizer for a resourceVersion that is no longer current is a conflict and changes nothing", async () => {
    const { cluster } = world();
    const { meta } = await seeded(kind, world(), "finalizer-conflict");
    await kind.patchStatus(cluster, meta, kind.twoErrors[0]);
    await failsWith("conflict", kind.setFinalizer(cluster, meta, true));
    expect((await kind.read(cluster, meta))?.meta.finalizers).toEqual([]);
  });

  test("status and finalizer of an object that does not exist are not-found", async () => {
    const { cluster } = world();
    const { meta } = await seeded(kind, world(), "gone");
    await failsWith("not-found", kind.patchStatus(cluster, { ...meta, name: "no-such-name" }, kind.empty));
    await failsWith("not-found", kind.setFinalizer(cluster, { ...meta, name: "no-such-name" }, true));
  });
}

function describeFinalizer<Status extends object>(kind: CustomKind<Status>, world: () => ContractWorld): void {
  test("our finalizer is added beside those of others and removed alone, and a repeat changes nothing", async () => {
    const { cluster, seed } = world();
    const ours = "flipop.digitalocean.com/cleanup";
    const manifest = manifestOf(kind, world(), "finalizer");
    await seed.object({ ...manifest, metadata: { ...manifest.metadata, finalizers: ["example.com/theirs"] } });
    const before = await stored(kind, world(), "finalizer");
    const added = await kind.setFinalizer(cluster, before.meta, true);
    expect(added.meta.finalizers.toSorted()).toEqual(["example.com/theirs", ours]);
    expect(await kind.setFinalizer(cluster, added.meta, true)).toEqual(added);
    const removed = await kind.setFinalizer(cluster, added.meta, false);
    expect(removed.meta.finalizers).toEqual(["example.com/theirs"]);
    expect(removed.spec).toEqual(before.spec);
    expect(await kind.setFinalizer(cluster, removed.meta, false)).toEqual(removed);
    await kind.setFinalizer(cluster, { ...removed.meta, finalizers: [] }, false);
  });
}
