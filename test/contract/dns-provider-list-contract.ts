import { describe, expect } from "vitest";
import type { Zone } from "../../src/model/dns.ts";
import { type InDNSWorld, knownZone } from "./dns-provider-world.ts";
import { expectDNSRefusal } from "./expect-dns-refusal.ts";

const zoneName = "example.com";

/** Declares the tests of listing all A records of a zone. */
export function listContract(inWorld: InDNSWorld): void {
  describe("listRecords", () => {
    inWorld("shows each name as reading it by itself does, and no other zone's", async ({ provider, seed }) => {
      await seed.zone(zoneName);
      await seed.zone("example.org");
      const names = ["example.com", "www.example.com", "a.b.example.com", "*.example.com", "xwww.example.com"];
      for (const [at, fqdn] of names.entries()) await seed.record(zoneName, fqdn, "A", `203.0.113.${at}`, 60);
      await seed.record(zoneName, "WWW.example.com", "A", "203.0.113.77", 120);
      await seed.record(zoneName, "a.b.example.com", "A", "203.0.113.2", 60);
      await seed.record(zoneName, "www.example.com", "TXT", "text", 60);
      await seed.record("example.org", "www.example.org", "A", "203.0.113.99", 60);
      const zone = await knownZone(provider);
      const listing = await provider.listRecords(zone, 1);
      expect([...(listing?.names.keys() ?? [])].toSorted()).toEqual(names.toSorted());
      expect(listing).toMatchObject({ isOneAnswer: true, unclear: new Set() });
      for (const fqdn of names) expect(listing?.names.get(fqdn)).toEqual(await provider.readRecords(zone, fqdn));
    });

    inWorld("is empty for a zone without A records", async ({ provider, seed }) => {
      await seed.zone(zoneName);
      await seed.record(zoneName, "www.example.com", "CNAME", "example.org.", 60);
      expect((await provider.listRecords(await knownZone(provider), 1))?.names.size).toBe(0);
    });

    inWorld("shows all of a zone of 450 records, in as many calls as its pages", async ({ provider, seed }) => {
      await seed.zone(zoneName);
      for (let at = 0; at < 450; at += 1)
        await seed.record(zoneName, `n${at % 150}.example.com`, "A", `198.18.${at >> 8}.${at & 255}`, 60);
      const zone = await knownZone(provider);
      const whole = await provider.listRecords(zone, 3);
      expect(whole?.names.size).toBe(150);
      expect([...(whole?.names.values() ?? [])].flatMap(({ addresses }) => addresses)).toHaveLength(450);
      expect(whole?.names.get("n7.example.com")).toEqual(await provider.readRecords(zone, "n7.example.com"));
      const isOnePage = (await provider.listRecords(zone, 1)) !== undefined;
      expect(whole?.isOneAnswer).toBe(isOnePage);
    });

    inWorld("is not found in a zone that is gone", async ({ provider, seed }) => {
      await seed.zone(zoneName);
      const gone: Zone = { id: "0".repeat(32), name: "example.net" };
      const named: Zone = { id: "example.net", name: "example.net" };
      const zone = (await knownZone(provider)).id === zoneName ? named : gone;
      await expectDNSRefusal(provider, provider.listRecords(zone, 1), "not-found");
    });
  });
}
