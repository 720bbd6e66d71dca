import { expect, test } from "vitest";
import type { LeaseRecord } from "../../src/ports/cluster.ts";
import { POOL_KIND, RECORD_SET_KIND, ROUTED_IP_KIND, seeded } from "./cluster-custom-kind.ts";
import type { ContractWorld } from "./cluster-world.ts";
import { failsWith } from "./fails-with.ts";

/** Declares the tests of readLease, createLease and replaceLease. */
export function describeLease(world: () => ContractWorld): void {
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

/** Declares the tests of createEvent, now and server. */
export function describeEvents(world: () => ContractWorld): void {
  test.for([
    ["FloatingIPPool", () => seeded(POOL_KIND, world(), "event")],
    ["NodeDNSRecordSet", () => seeded(RECORD_SET_KIND, world(), "event")],
    ["RoutedIP", () => seeded(ROUTED_IP_KIND, world(), "event")],
  ] as const)("createEvent accepts an Event about a %s, and the same one again", async ([kind, seed]) => {
    const { cluster } = world();
    const { meta } = await seed();
    const event = {
      regarding: { kind, meta },
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
    const askedMs = Date.now();
    await cluster.listPools();
    expect(cluster.now()).toBeGreaterThan(askedMs - 5_000);
    expect(cluster.now()).toBeLessThan(Date.now() + 5_000);
    expect(cluster.server).toMatch(/^https?:\/\//);
  });
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
