import { describe, expect } from "vitest";
import { type InDNSWorld, knownZone } from "./dns-provider-world.ts";
import { expectDNSRefusal } from "./expect-dns-refusal.ts";

const zoneName = "example.com";
const fqdn = "www.example.com";
const aaaa = `${fqdn} AAAA`;
const six = (number: number): string => `2001:db8::${number}`;

/** Declares the tests of AAAA records: as A records, and neither set knows of the other. */
export function familyContract(inWorld: InDNSWorld): void {
  describe("AAAA records", () => {
    inWorld("are read beside A records, however they are written", async ({ provider, seed }) => {
      await seed.zone(zoneName);
      await seed.record(zoneName, fqdn, "A", "203.0.113.1", 60);
      await seed.record(zoneName, "WWW.example.com", "AAAA", "2001:DB8:0:0::0002", 60);
      await seed.record(zoneName, fqdn, "AAAA", six(1), 60);
      const zone = await knownZone(provider);
      expect(await provider.readRecords(zone, aaaa)).toMatchObject({ fqdn: aaaa, addresses: [six(1), six(2)] });
      expect(await provider.readRecords(zone, fqdn)).toMatchObject({ fqdn, addresses: ["203.0.113.1"] });
    });

    inWorld("are listed by themselves", async ({ provider, seed }) => {
      await seed.zone(zoneName);
      await seed.record(zoneName, fqdn, "A", "203.0.113.1", 60);
      await seed.record(zoneName, fqdn, "AAAA", six(1), 60);
      await seed.record(zoneName, zoneName, "AAAA", six(2), 60);
      const zone = await knownZone(provider);
      const listing = await provider.listRecords(zone, 1, true, "AAAA");
      expect([...(listing?.names.keys() ?? [])].toSorted()).toEqual([`${zoneName} AAAA`, aaaa]);
      expect(listing?.names.get(aaaa)).toEqual(await provider.readRecords(zone, aaaa));
      expect([...((await provider.listRecords(zone, 1))?.names.keys() ?? [])]).toEqual([fqdn]);
    });

    for (const [before, after] of [
      [[], [1, 2]],
      [
        [1, 2],
        [2, 3],
      ],
      [[1], [2]],
      [[1, 2], []],
    ])
      inWorld(
        `become ${after?.join(" ") || "none"} from ${before?.join(" ") || "none"}, and A records stay`,
        async (world) => {
          const { provider, seed } = world;
          await seed.zone(zoneName);
          await seed.record(zoneName, fqdn, "A", "203.0.113.1", 60);
          for (const number of before ?? []) await seed.record(zoneName, fqdn, "AAAA", six(number), 60);
          const zone = await knownZone(provider);
          const [old, wanted] = [before ?? [], after ?? []].map((numbers) => numbers.map(six));
          const change = { before: old ?? [], after: { addresses: wanted ?? [], ttlSeconds: 60 } };
          const { kind, records } = await provider.writeRecords(zone, aaaa, change);
          expect([kind, records.fqdn, records.addresses]).toEqual(["written", aaaa, wanted]);
          expect((await provider.readRecords(zone, aaaa)).addresses).toEqual(wanted);
          const contents = (type: string) =>
            Promise.resolve(world.records(zoneName)).then((all) =>
              all.filter((record) => record.type === type).map(({ content }) => content),
            );
          expect((await contents("AAAA")).toSorted()).toEqual(wanted);
          expect(await contents("A")).toEqual(["203.0.113.1"]);
          const made = world.writes();
          expect((await provider.writeRecords(zone, aaaa, change)).kind).toBe("written");
          expect(world.writes()).toBe(made);
        },
      );

    inWorld("of another plan are stale, and stay", async ({ provider, seed, writes }) => {
      await seed.zone(zoneName);
      await seed.record(zoneName, fqdn, "AAAA", six(1), 60);
      const change = { before: [], after: { addresses: [six(2)], ttlSeconds: 60 } };
      expect((await provider.writeRecords(await knownZone(provider), aaaa, change)).kind).toBe("stale");
      expect(writes()).toBe(0);
    });

    inWorld("hold no IPv4 address, and A records no IPv6 address", async ({ provider, seed }) => {
      await seed.zone(zoneName);
      const zone = await knownZone(provider);
      for (const [set, address] of [
        [aaaa, "203.0.113.1"],
        [fqdn, six(1)],
      ] as const) {
        const change = { before: [], after: { addresses: [address], ttlSeconds: 60 } };
        await expectDNSRefusal(provider, provider.writeRecords(zone, set, change), "refused");
      }
    });
  });
}
