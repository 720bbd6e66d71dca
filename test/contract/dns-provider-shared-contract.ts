import { describe, expect } from "vitest";
import type { RecordSetChange } from "../../src/ports/providers.ts";
import { type DNSProviderWorld, type InDNSWorld, knownZone } from "./dns-provider-world.ts";

const zoneName = "example.com";
const fqdn = "www.example.com";
const [A, B, C, X, Y] = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "198.51.100.1", "198.51.100.2"];

/** What holds for a change that leaves records to others: A, B and C are its own, X and Y another cluster's. */
export function sharedContract(inWorld: InDNSWorld): void {
  describe("writeRecords beside records of others", () => {
    changingOwn(inWorld);
    meetingOthers(inWorld);
  });
}

function changingOwn(inWorld: InDNSWorld): void {
  inWorld("adds and removes its own ones, and touches no other", async (world) => {
    await standing(world, [A, 60], [X, 60], [Y, 60]);
    const before = await world.records(zoneName);
    expect(await write(world, [A], [B, C])).toMatchObject({
      kind: "written",
      records: { addresses: [X, Y, B, C].toSorted() },
    });
    expect(await shown(world)).toEqual([`${X} 60`, `${Y} 60`, `${B} 60`, `${C} 60`].toSorted());
    expect(before.filter(({ content }) => content === X)).toHaveLength(1);
  });

  inWorld("leaves a record of others that stands twice, and writes nothing then", async (world) => {
    await standing(world, [A, 60], [X, 60], [X, 60]);
    expect(await write(world, [A], [A])).toMatchObject({ kind: "written" });
    expect(world.writes()).toBe(0);
  });

  inWorld("removes one of two records of an own address", async (world) => {
    await standing(world, [A, 60], [A, 60], [X, 60]);
    expect(await write(world, [A], [A])).toMatchObject({ kind: "written" });
    expect(await shown(world)).toEqual([`${X} 60`, `${A} 60`].toSorted());
  });

  inWorld("never raises the TTL of others", async (world) => {
    await standing(world, [A, 120], [X, 120]);
    expect(await write(world, [A], [A, B], { ttlSeconds: 300 })).toMatchObject({ kind: "written" });
    expect(await shown(world)).toEqual([`${X} 120`, `${A} 120`, `${B} 120`].toSorted());
  });

  inWorld("gives its own records the lower TTL", async (world) => {
    await standing(world, [A, 300], [X, 300]);
    expect(await write(world, [A], [A], { ttlSeconds: 60 })).toMatchObject({ kind: "written" });
    expect(await shown(world)).toContain(`${A} 60`);
    expect(world.writes()).toBe(1);
  });
}

function meetingOthers(inWorld: InDNSWorld): void {
  inWorld("a record that others add between reading and writing survives", async (world) => {
    await standing(world, [A, 60], [X, 60]);
    world.beforeNextWrite(() => world.seed.record(zoneName, fqdn, "A", Y, 60));
    await write(world, [A], [B]);
    const survivors = world.isWhole ? [X] : [X, Y];
    expect(await shown(world)).toEqual([...survivors, B].map((ip) => `${ip} 60`).toSorted());
  });

  inWorld("others that go or come before the reading make nothing stale", async (world) => {
    await standing(world, [A, 60], [Y, 60]);
    expect(await write(world, [A], [B])).toMatchObject({ kind: "written" });
    expect(await shown(world)).toEqual([`${Y} 60`, `${B} 60`].toSorted());
  });

  inWorld("an own record that somebody else took away makes it stale", async (world) => {
    await standing(world, [X, 60]);
    expect(await write(world, [A], [A, B])).toMatchObject({ kind: "stale" });
    expect(world.writes()).toBe(0);
  });

  inWorld("where there must be none, another record makes it stale", async (world) => {
    await standing(world, [X, 60]);
    expect(await write(world, [], [A], { others: "none" })).toMatchObject({ kind: "stale" });
    expect(world.writes()).toBe(0);
  });

  inWorld("the last own record stays where others must be and are not", async (world) => {
    await standing(world, [A, 60]);
    expect(await write(world, [A], [], { others: "some" })).toMatchObject({ kind: "stale" });
    expect(await shown(world)).toEqual([`${A} 60`]);
  });

  inWorld("own records are put back when the others go at the same moment", async (world) => {
    await standing(world, [A, 60], [B, 60], [X, 60]);
    world.beforeNextWrite(() => world.seed.removal(zoneName, fqdn, "A", X));
    // Who sends a whole set puts back what has just gone: the name is not left empty.
    if (world.isWhole) {
      expect(await write(world, [A, B], [], { others: "some" })).toMatchObject({ kind: "written" });
      return expect(await shown(world)).toEqual([`${X} 60`]);
    }
    expect(await write(world, [A, B], [], { others: "some" })).toMatchObject({
      kind: "stale",
      records: { addresses: [A, B] },
    });
    expect(await shown(world)).toEqual([`${A} 60`, `${B} 60`]);
  });
}

async function standing(
  { seed }: DNSProviderWorld,
  ...records: readonly (readonly [ip: string, ttl: number])[]
): Promise<void> {
  await seed.zone(zoneName);
  for (const [ip, ttl] of records) seed.record(zoneName, fqdn, "A", ip, ttl);
}

async function write(
  { provider }: DNSProviderWorld,
  before: readonly string[],
  addresses: readonly string[],
  {
    ttlSeconds = 60,
    others = "any",
  }: { readonly ttlSeconds?: number; readonly others?: RecordSetChange["others"] } = {},
): ReturnType<DNSProviderWorld["provider"]["writeRecords"]> {
  const change = { before, after: { addresses, ttlSeconds } };
  return await provider.writeRecords(await knownZone(provider), fqdn, { ...change, ...(others && { others }) });
}

/** Address and TTL of each record of the name, sorted. */
async function shown({ records }: DNSProviderWorld): Promise<readonly string[]> {
  return (await records(zoneName)).map(({ content, ttl }) => `${content} ${ttl}`).toSorted();
}
