import { expect, test } from "vitest";
import type { IPFamily } from "../../src/model/address-source.ts";
import * as annotations from "../../src/model/lease-annotations.ts";
import type { Backend } from "../scenario/backend.ts";
import { memoryWorld } from "../scenario/memory-world.ts";
import { World } from "../scenario/world.ts";
import { settle } from "./situations.ts";
import { outcomeOf } from "./survive.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/shop/leases/flipop";

/** A settled world whose last run held the Lease. */
async function leased(backend: Backend, family: IPFamily = "IPv4"): Promise<World> {
  const world = new World(backend);
  await settle(world, family);
  await world.run({ lease: "wait" });
  return world;
}

/** A run that waits for the Lease at most as long as a Lease without renewal may block. */
async function runs(world: World): Promise<string> {
  world.advance(1000);
  return (await world.run({ lease: "wait", deadlineMs: 4_000_000 })).kind;
}

const LEASE_FIELDS = [
  "holderIdentity",
  "leaseDurationSeconds",
  "acquireTime",
  "renewTime",
  "leaseTransitions",
] as const;

const OTHER_FIELDS: Readonly<Record<(typeof LEASE_FIELDS)[number], unknown>> = {
  holderIdentity: "somebody",
  leaseDurationSeconds: 2_000_000_000,
  acquireTime: "2999-01-01T00:00:00.000000Z",
  renewTime: "2999-01-01T00:00:00.000000Z",
  leaseTransitions: 2_147_483_647,
};

test.for(LEASE_FIELDS.flatMap((field) => [null, OTHER_FIELDS[field]].map((value) => [field, value] as const)))(
  "with spec.%s of the Lease set to %j the next run has its turn, and changes nothing",
  async ([field, value]) => {
    const backend = memoryWorld();
    const world = await leased(backend);
    await backend.rest("PATCH", LEASE, { spec: { [field]: value } });
    expect(await runs(world)).toBe("done");
    expect([...world.cloudWrites(), ...world.dnsWrites(), ...world.kubeWrites()]).toEqual([]);
  },
);

const KEYS = Object.values(annotations).map((key) => (key.endsWith("-") ? `${key}digitalocean` : key));

test.for(KEYS.flatMap((key) => ["", "?!", "2999-01-01T00:00:00Z", '{"calls":[]}'].map((text) => [key, text] as const)))(
  "with %s of the Lease set to %j nothing is ever done because of it, and a failover waits for an hour at most",
  async ([key, text]) => {
    const backend = memoryWorld();
    const world = await leased(backend);
    await backend.rest("PATCH", LEASE, { metadata: { annotations: { [key]: text } } });
    expect(await runs(world)).toBe("done");
    expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
    await world.machines("n3");
    await world.nodes.setReady("n1", false);
    world.advance(3_700_000);
    await runs(world);
    world.advance(3_700_000);
    await runs(world);
    await runs(world);
    expect(await world.show()).toContain("new2 active n3");
    expect(world.dnsSafety.violations).toEqual([]);
  },
);

test("with the whole Lease gone the next run makes it anew, and changes nothing", async () => {
  const backend = memoryWorld();
  const world = await leased(backend);
  await backend.rest("DELETE", LEASE);
  expect(await runs(world)).toBe("done");
  expect([...world.cloudWrites(), ...world.dnsWrites(), ...world.kubeWrites()]).toEqual([]);
  expect(await backend.rest("GET", LEASE)).toMatchObject({ spec: { leaseDurationSeconds: expect.any(Number) } });
});

test.for([
  [null, null],
  ["203.0.113.77", "shop/web"],
  ["198.51.100.1", "shop/web"],
  ["?!", "shop/web"],
  ["203.0.113.1", "shop/other"],
  ["203.0.113.1", null],
] as const)("with a node's annotations set to %j of %j only they are written again", async ([address, pool]) => {
  const world = await leased(memoryWorld());
  const before = await world.nodes.annotations();
  await world.nodes.annotate("n1", address, pool);
  const { providerWrites, violations } = await outcomeOf(world);
  expect({ providerWrites, violations }).toEqual({ providerWrites: [], violations: [] });
  expect(await world.nodes.annotations()).toEqual(before);
});

test.for([
  [null, null],
  ["2001:db8:66:77::1", "shop/web"],
  ["2001:0DB8:66:1:0:0:0:1", "shop/web"],
  ["203.0.113.1", "shop/web"],
  ["2001:db8::99", "shop/web"],
  ["?!", "shop/web"],
  ["2001:db8:66:1::1", "shop/other"],
  ["2001:db8:66:1::1", null],
] as const)(
  "with a node's annotations of IPv6 set to %j of %j only they are written again",
  async ([address, pool]) => {
    const world = await leased(memoryWorld(), "IPv6");
    const before = await world.nodes.annotations("IPv6");
    const ofIPv4 = await world.nodes.annotations();
    await world.nodes.annotate("n1", address, pool, "IPv6");
    const { providerWrites, violations } = await outcomeOf(world);
    expect({ providerWrites, violations }).toEqual({ providerWrites: [], violations: [] });
    expect(await world.nodes.annotations("IPv6")).toEqual(before);
    expect(Object.keys(before)).toContain("n1");
    expect(await world.nodes.annotations()).toEqual(ofIPv4);
  },
);

test.for([
  ["203.0.113.1", "shop/web"],
  ["2001:db8:66:1::1", "shop/web"],
  ["?!", null],
] as const)(
  "beside a pool of IPv6, with a node's annotations of IPv4 set to %j of %j those of IPv6 stay, and no record changes",
  async ([address, pool]) => {
    const world = await leased(memoryWorld(), "IPv6");
    const before = await world.nodes.annotations("IPv6");
    await world.nodes.annotate("n1", address, pool);
    const { providerWrites, violations } = await outcomeOf(world);
    expect({ providerWrites, violations }).toEqual({ providerWrites: [], violations: [] });
    expect(await world.nodes.annotations("IPv6")).toEqual(before);
  },
);

test("with the finalizer gone it is set again", async () => {
  const backend = memoryWorld();
  const world = await leased(backend);
  await world.pools.edit("web", { reclaimPolicy: "Delete" });
  await outcomeOf(world);
  const before = await world.pools.finalizers("web");
  const path = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/shop/floatingippools/web";
  await backend.rest("PATCH", path, { metadata: { finalizers: null } });
  const { providerWrites } = await outcomeOf(world);
  expect(providerWrites).toEqual([]);
  expect(before).toHaveLength(1);
  expect(await world.pools.finalizers("web")).toEqual(before);
});
