import { describe, expect } from "vitest";
import { NotSent } from "../../src/model/errors.ts";
import type { RecordSetResult } from "../../src/ports/providers.ts";
import { type DNSProviderWorld, type InDNSWorld, knownZone } from "./dns-provider-world.ts";
import { expectSafeViews } from "./expect-safe-views.ts";

const zoneName = "example.com";
const fqdn = "www.example.com";
const [ip1, ip2, ip3, ip4] = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"] as const;

/** Declares the tests of writeRecords when the records are not, or no longer, those that the change was planned on. */
export function staleContract(inWorld: InDNSWorld): void {
  describe("writeRecords of a change planned on other records", () => leavingChangedSets(inWorld));
  describe("writeRecords of a change planned on these addresses", () => changingExpectedSets(inWorld));
  describe("writeRecords while somebody else writes", () => meetingAnother(inWorld));
  describe("writeRecords that may not go on", () => stopping(inWorld));
}

async function seedSet(world: DNSProviderWorld, addresses: readonly string[], ttlSeconds = 60): Promise<void> {
  await world.seed.zone(zoneName);
  for (const ip of addresses) world.seed.record(zoneName, fqdn, "A", ip, ttlSeconds);
}

/** Writes what is wanted, and expects the answer to show what is read afterwards. */
async function write(
  world: DNSProviderWorld,
  before: readonly string[],
  addresses: readonly string[],
  ttlSeconds = 60,
): Promise<RecordSetResult> {
  const { provider } = world;
  const zone = await knownZone(provider);
  const result = await provider.writeRecords(zone, fqdn, { before, after: { addresses, ttlSeconds } });
  expect(await provider.readRecords(zone, fqdn)).toEqual(result.records);
  return result;
}

function stopping(inWorld: InDNSWorld): void {
  for (const [what, before, after, ttl] of [
    ["records are to be added and removed", [ip1, ip2], [ip2, ip3, ip4], 60],
    ["records are to be added and removed and have another TTL", [ip1, ip2], [ip2, ip3], 300],
    ["records are only to be removed", [ip1, ip2, ip3], [ip1], 60],
    ["only the TTL is to be changed", [ip1, ip2], [ip1, ip2], 300],
    ["all records are to be removed", [ip1, ip2], [], 60],
  ] as const) {
    for (const allowed of [0, 1, 2, 99]) {
      inWorld(
        `asks once before every single request and ends where it may not go on, when ${what} and ${allowed} requests are allowed`,
        async (world) => {
          await seedSet(world, before);
          const writesWhenAsked: number[] = [];
          world.permit.mayWrite = (): boolean => {
            writesWhenAsked.push(world.writes());
            return writesWhenAsked.length <= allowed;
          };
          const zone = await knownZone(world.provider);
          const change = { before, after: { addresses: after, ttlSeconds: ttl } };
          const end = await world.provider.writeRecords(zone, fqdn, change).catch((error: unknown) => error);
          expect(writesWhenAsked).toEqual(Array.from(writesWhenAsked, (_, index) => index));
          const isStopped = writesWhenAsked.length > allowed;
          expect(world.writes()).toBe(writesWhenAsked.length - (isStopped ? 1 : 0));
          const { addresses } = await world.provider.readRecords(zone, fqdn);
          if (isStopped) expect(end).toBeInstanceOf(NotSent);
          else expect(end).toMatchObject({ kind: "written", records: { addresses } });
          if (after.length > 0) expect(addresses).not.toEqual([]);
        },
      );
    }
  }
}

function leavingChangedSets(inWorld: InDNSWorld): void {
  for (const [what, current, before, after] of [
    ["an address was added", [ip1, ip2], [ip1], [ip1, ip3]],
    ["an address was removed", [ip1], [ip1, ip2], [ip1, ip3]],
    ["an address was replaced", [ip1, ip4], [ip1, ip2], [ip1, ip3]],
    ["all addresses were removed", [], [ip1], [ip2]],
    ["an address came to a name without any", [ip1], [], [ip2]],
    ["all should go and one was added", [ip1, ip2], [ip1], []],
    ["a part of the change is done", [ip1, ip2], [ip1], [ip2]],
  ] as const) {
    inWorld(`is stale and writes nothing when ${what}`, async (world) => {
      await seedSet(world, current);
      const records = await world.records(zoneName);
      expect(await write(world, before, after)).toMatchObject({ kind: "stale", records: { addresses: current } });
      expect([world.writes(), await world.records(zoneName)]).toEqual([0, records]);
    });
  }

  inWorld("is stale when the addresses are as wanted but their TTL is not", async (world) => {
    await seedSet(world, [ip1, ip2], 300);
    expect(await write(world, [ip1], [ip1, ip2])).toMatchObject({ kind: "stale", records: { ttlSeconds: 300 } });
    expect(world.writes()).toBe(0);
  });

  inWorld("is stale when the addresses are as wanted but one stands twice", async (world) => {
    await seedSet(world, [ip1, ip2, ip2]);
    if (world.isWhole === "name") return expect((await write(world, [ip1], [ip1, ip2])).kind).toBe("written");
    expect(await write(world, [ip1], [ip1, ip2])).toMatchObject({ kind: "stale", records: { hasDuplicates: true } });
    expect(world.writes()).toBe(0);
  });

  inWorld("is written without a write when everything is as wanted already", async (world) => {
    await seedSet(world, [ip1, ip2]);
    expect(await write(world, [ip3], [ip1, ip2])).toMatchObject({
      kind: "written",
      records: { addresses: [ip1, ip2] },
    });
    expect(world.writes()).toBe(0);
  });

  inWorld("is written without a write when there is no record and none is wanted", async (world) => {
    await seedSet(world, []);
    expect(await write(world, [ip1], [])).toMatchObject({ kind: "written", records: { addresses: [] } });
    expect(world.writes()).toBe(0);
  });

  inWorld("is written by a second change that is planned on the answer to the first", async (world) => {
    await seedSet(world, [ip1, ip4]);
    const { records } = await write(world, [ip1], [ip2]);
    expect(await write(world, records.addresses, [ip2])).toMatchObject({ kind: "written" });
    expectSafeViews(world.resolverViews(fqdn), [ip1, ip4], [ip2]);
  });
}

function changingExpectedSets(inWorld: InDNSWorld): void {
  inWorld("is written although an address stands in two records", async (world) => {
    await seedSet(world, [ip1, ip1, ip2]);
    const { kind, records } = await write(world, [ip1, ip2], [ip1, ip3]);
    expect([kind, records.addresses, records.hasDuplicates]).toEqual(["written", [ip1, ip3], false]);
  });

  inWorld("is written although the TTL is another, or several", async (world) => {
    await seedSet(world, [ip1], 900);
    world.seed.record(zoneName, fqdn, "A", ip2, 1800);
    const { kind, records } = await write(world, [ip1, ip2], [ip1, ip2, ip3]);
    expect([kind, records.addresses, records.ttlSeconds]).toEqual(["written", [ip1, ip2, ip3], 60]);
  });

  inWorld("is written although the name has got a record of another type", async (world) => {
    await seedSet(world, [ip1]);
    world.seed.record(zoneName, fqdn, "TXT", "hello", 60);
    expect(await write(world, [ip1], [ip2])).toMatchObject({ kind: "written", records: { addresses: [ip2] } });
  });

  inWorld("is written in whatever order the addresses are given", async (world) => {
    await seedSet(world, [ip1, ip2]);
    expect((await write(world, [ip2, ip1], [ip3, ip1])).kind).toBe("written");
  });

  inWorld("removes everything", async (world) => {
    await seedSet(world, [ip1, ip2, ip2], 300);
    expect(await write(world, [ip1, ip2], [])).toMatchObject({ kind: "written", records: { addresses: [] } });
    expect(await world.records(zoneName)).toEqual([]);
  });
}

function meetingAnother(inWorld: InDNSWorld): void {
  inWorld("is written when the other has removed the only record that was to go", async (world) => {
    await seedSet(world, [ip1, ip2]);
    world.beforeNextWrite(() => world.seed.removal(zoneName, fqdn, "A", ip2));
    expect(await write(world, [ip1, ip2], [ip1])).toMatchObject({ kind: "written", records: { addresses: [ip1] } });
  });

  inWorld("is stale when the other has removed one of the records that were to go", async (world) => {
    await seedSet(world, [ip1, ip2, ip3]);
    world.beforeNextWrite(() => world.seed.removal(zoneName, fqdn, "A", ip2));
    const result = await write(world, [ip1, ip2, ip3], [ip1]);
    if (world.isWhole) return expect(result).toMatchObject({ kind: "written", records: { addresses: [ip1] } });
    expect(result).toMatchObject({ kind: "stale", records: { addresses: [ip1, ip3] } });
    expect((await write(world, [ip1, ip3], [ip1])).kind).toBe("written");
  });

  inWorld("is stale when the other has emptied the name but for an address of its own", async (world) => {
    await seedSet(world, [ip1, ip2]);
    world.beforeNextWrite(() => {
      for (const ip of [ip1, ip2]) world.seed.removal(zoneName, fqdn, "A", ip);
      world.seed.record(zoneName, fqdn, "A", ip4, 60);
    });
    const result = await write(world, [ip1, ip2], [ip1], 60);
    if (world.isWhole) return expect(result).toMatchObject({ kind: "written", records: { addresses: [ip1] } });
    expect(result).toMatchObject({ kind: "stale", records: { addresses: [ip4] } });
  });

  inWorld("is tried again when the other has made the same record anew", async (world) => {
    await seedSet(world, [ip1, ip2]);
    world.beforeNextWrite(() => {
      world.seed.removal(zoneName, fqdn, "A", ip2);
      world.seed.record(zoneName, fqdn, "A", ip2, 60);
    });
    expect(await write(world, [ip1, ip2], [ip1])).toMatchObject({ kind: "written", records: { addresses: [ip1] } });
    expectSafeViews(world.resolverViews(fqdn), [ip1, ip2], [ip1]);
  });

  inWorld("is not done by halves unnoticed when the other has removed what was to be replaced", async (world) => {
    await seedSet(world, [ip1, ip2]);
    world.beforeNextWrite(() => world.seed.removal(zoneName, fqdn, "A", ip2));
    const { kind, records } = await write(world, [ip1, ip2], [ip1, ip3]);
    // One by one the new record stands before the old one is missed; in a batch nothing is done; a whole set is as it was sent.
    const isRefused = world.provider.isBatched && world.isWhole === undefined;
    expect([kind, records.addresses]).toEqual(isRefused ? ["stale", [ip1]] : ["written", [ip1, ip3]]);
  });
}
