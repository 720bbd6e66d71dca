import { describe, expect } from "vitest";
import type { RecordSetState } from "../../src/model/dns.ts";
import type { RecordSetChange } from "../../src/ports/providers.ts";
import { type DNSProviderWorld, type InDNSWorld, knownZone, type SeenRecord } from "./dns-provider-world.ts";
import { expectSafeViews } from "./expect-safe-views.ts";

const zoneName = "example.com";
const fqdn = "www.example.com";
const [ip1, ip2, ip3, ip4] = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"] as const;

/** Declares the tests of writeRecords when nothing fails on the way. */
export function writeContract(inWorld: InDNSWorld): void {
  describe("writeRecords", () => changingSets(inWorld));
  describe("writeRecords again and again", () => changingAnything(inWorld));
  describe("writeRecords of a TTL", () => changingTTLs(inWorld));
  describe("writeRecords beside other records", () => leavingOthersAlone(inWorld));
}

/** Writes, and expects the returned set to be the desired one and to be what is read afterwards; then that another write sends nothing. */
async function write(
  world: DNSProviderWorld,
  addresses: readonly string[],
  ttlSeconds: number,
  name: string = fqdn,
): Promise<RecordSetState> {
  const { provider } = world;
  const zone = await knownZone(provider);
  const change = await planned(world, addresses, ttlSeconds, name);
  const { kind, records: state } = await provider.writeRecords(zone, name, change);
  expect(kind).toBe("written");
  expect(state).toEqual({
    fqdn: name,
    addresses,
    isTTLAutomatic: false,
    hasDuplicates: false,
    ...(addresses.length === 0 ? {} : { ttlSeconds }),
  });
  expect(await provider.readRecords(zone, name)).toEqual(state);
  const writes = world.writes();
  expect(await provider.writeRecords(zone, name, change)).toEqual({ kind, records: state });
  expect(world.writes()).toBe(writes);
  return state;
}

/** The change of what stands now. */
async function planned(
  { provider }: DNSProviderWorld,
  addresses: readonly string[],
  ttlSeconds: number,
  name: string = fqdn,
): Promise<RecordSetChange> {
  const { addresses: before } = await provider.readRecords(await knownZone(provider), name);
  return { before, after: { addresses, ttlSeconds } };
}

async function seedSet(world: DNSProviderWorld, addresses: readonly string[], ttlSeconds = 60): Promise<void> {
  await world.seed.zone(zoneName);
  for (const ip of addresses) await world.seed.record(zoneName, fqdn, "A", ip, ttlSeconds);
}

function changingSets(inWorld: InDNSWorld): void {
  for (const [title, name] of [
    ["a subdomain", fqdn],
    ["a name of several labels", "a.b.nodes.example.com"],
    ["the zone itself", zoneName],
    ["a wildcard", "*.example.com"],
  ] as const) {
    inWorld(`makes the records of ${title} that has none`, async (world) => {
      await world.seed.zone(zoneName);
      await write(world, [ip1, ip2], 60, name);
      const made = (content: string): SeenRecord => ({ fqdn: name, type: "A", content, ttl: 60 });
      expect(sorted(await world.records(zoneName))).toEqual([made(ip1), made(ip2)]);
    });
  }

  for (const [title, current, desired] of [
    ["adds what is missing", [ip1], [ip1, ip2, ip3]],
    ["removes what is too much", [ip1, ip2, ip3], [ip2]],
    ["replaces one address", [ip1, ip2], [ip1, ip3]],
    ["replaces the only address", [ip1], [ip2]],
    ["replaces every address", [ip1, ip2], [ip3, ip4]],
    ["removes the second record of an address", [ip1, ip2, ip1], [ip1, ip2]],
    ["removes the second record of the only address", [ip1, ip1], [ip1]],
    ["replaces an address that stands in three records", [ip1, ip1, ip1], [ip2]],
  ] as const) {
    inWorld(`${title} without ever showing an empty set or one that lacks both old and new`, async (world) => {
      await seedSet(world, current);
      await write(world, desired, 60);
      expectSafeViews(world.resolverViews(fqdn), current, desired);
    });
  }

  inWorld("removes all records when no address is desired", async (world) => {
    await seedSet(world, [ip1, ip2, ip1]);
    await write(world, [], 60);
    expect(await world.records(zoneName)).toEqual([]);
  });

  inWorld("writes nothing when nothing differs", async (world) => {
    await seedSet(world, [ip2, ip1], 60);
    await write(world, [ip1, ip2], 60);
    expect([world.writes(), world.resolverViews(fqdn)]).toEqual([0, []]);
  });

  inWorld("writes nothing when the name has no record and should have none", async (world) => {
    await seedSet(world, []);
    await write(world, [], 60);
    expect(world.writes()).toBe(0);
  });

  inWorld("repairs what somebody added and removed since", async (world) => {
    await seedSet(world, []);
    await write(world, [ip1, ip2], 60);
    await world.seed.removal(zoneName, fqdn, "A", ip1);
    await world.seed.record(zoneName, fqdn, "A", ip4, 60);
    await write(world, [ip1, ip2], 60);
  });
}

function changingAnything(inWorld: InDNSWorld): void {
  inWorld("reaches every one of 12 random sets from the one before", async (world) => {
    await world.seed.zone(zoneName);
    let random = 7;
    const below = (limit: number): number => {
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((random / 2 ** 32) * limit);
    };
    let before: readonly string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const after = [ip1, ip2, ip3, ip4].filter(() => below(2) === 0);
      // Every third time somebody has made a mess of it, which the write finds.
      if (count % 3 === 0 && before[0] !== undefined) await world.seed.record(zoneName, fqdn, "A", before[0], 90);
      const from = world.resolverViews(fqdn).length;
      await write(world, after, [60, 300][below(2)] ?? 60);
      const isFilled = before.length > 0 && after.length > 0;
      if (isFilled) expectSafeViews(world.resolverViews(fqdn).slice(from), before, after);
      before = after;
    }
  });
}

function changingTTLs(inWorld: InDNSWorld): void {
  inWorld("changes the TTL of every record, and no address", async (world) => {
    await seedSet(world, [ip1, ip2, ip3], 60);
    await write(world, [ip1, ip2, ip3], 300);
    expect((await world.records(zoneName)).map((record) => record.ttl)).toEqual([300, 300, 300]);
    expectSafeViews(world.resolverViews(fqdn), [ip1, ip2, ip3], [ip1, ip2, ip3]);
  });

  inWorld("makes one TTL of several", async (world) => {
    await seedSet(world, [ip1, ip2], 60);
    await world.seed.record(zoneName, fqdn, "A", ip3, 300);
    await write(world, [ip1, ip2, ip3], 300);
    expect((await world.records(zoneName)).map((record) => record.ttl)).toEqual([300, 300, 300]);
  });

  inWorld("changes TTL and addresses together", async (world) => {
    await seedSet(world, [ip1, ip2], 60);
    await write(world, [ip2, ip3], 300);
    expect((await world.records(zoneName)).map((record) => record.ttl)).toEqual([300, 300]);
    expectSafeViews(world.resolverViews(fqdn), [ip1, ip2], [ip2, ip3]);
  });

  inWorld(
    "keeps a TTL between the least and the most that the provider accepts, and is content with it",
    async (world) => {
      await seedSet(world, [ip1], 300);
      const { provider } = world;
      const zone = await knownZone(provider);
      const { minimumSeconds, maximumSeconds } = provider.ttlRules;
      const bounds = [
        [[ip1], minimumSeconds - 1, minimumSeconds],
        [[ip1, ip2], maximumSeconds + 1, maximumSeconds],
      ] as const;
      for (const [before, ttlSeconds, accepted] of bounds) {
        const change = { before, after: { addresses: [ip1, ip2], ttlSeconds } };
        expect((await provider.writeRecords(zone, fqdn, change)).records.ttlSeconds).toBe(accepted);
        const writes = world.writes();
        expect((await provider.writeRecords(zone, fqdn, change)).records.ttlSeconds).toBe(accepted);
        expect(world.writes()).toBe(writes);
      }
    },
  );

  inWorld("writes the value that means automatic as it is, where there is one", async (world) => {
    await seedSet(world, [ip1], 300);
    const zone = await knownZone(world.provider);
    const { automaticSeconds, minimumSeconds } = world.provider.ttlRules;
    const change = await planned(world, [ip1, ip2], automaticSeconds ?? 1);
    const { records } = await world.provider.writeRecords(zone, fqdn, change);
    expect(records.ttlSeconds).toBe(automaticSeconds ?? minimumSeconds);
  });
}

function leavingOthersAlone(inWorld: InDNSWorld): void {
  inWorld("touches no record of another type or name", async (world) => {
    await seedSet(world, [ip1, ip2]);
    await world.seed.record(zoneName, fqdn, "AAAA", "2001:db8::1", 60);
    await world.seed.record(zoneName, fqdn, "TXT", "owner=somebody", 60);
    for (const other of ["example.com", "a.www.example.com", "xwww.example.com", "www.example.com.example.com"]) {
      await world.seed.record(zoneName, other, "A", ip1, 900);
    }
    await world.seed.zone("example.org");
    await world.seed.record("example.org", "www.example.org", "A", ip1, 900);
    const before = await others(world);
    await write(world, [ip3], 60);
    await write(world, [ip3], 120);
    await write(world, [], 60);
    expect(await others(world)).toEqual(before);
    expect(before).toHaveLength(7);
  });

  inWorld("writes one of two names without the other", async (world) => {
    await world.seed.zone(zoneName);
    await write(world, [ip1], 60, "a.example.com");
    await write(world, [ip2], 300, "b.example.com");
    await write(world, [], 60, "a.example.com");
    const [record, ...rest] = await world.records(zoneName);
    expect([record, rest]).toEqual([{ fqdn: "b.example.com", type: "A", content: ip2, ttl: 300 }, []]);
  });
}

/** Every record but the A records of the name; without TTL where the name is the same, because a provider may keep one TTL per name. */
async function others(world: DNSProviderWorld): Promise<readonly string[]> {
  const records = [...(await world.records(zoneName)), ...(await world.records("example.org"))];
  return records
    .filter((record) => record.fqdn !== fqdn || record.type !== "A")
    .map((record) => `${record.fqdn} ${record.type} ${record.content} ${record.fqdn === fqdn ? "" : record.ttl}`)
    .sort();
}

function sorted(records: readonly SeenRecord[]): readonly SeenRecord[] {
  return records.toSorted((a, b) => (a.content < b.content ? -1 : 1));
}
