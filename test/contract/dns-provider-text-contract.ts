import { describe, expect } from "vitest";
import { externalOwner } from "../../src/model/external-dns.ts";
import { type InDNSWorld, knownZone } from "./dns-provider-world.ts";

const zoneName = "example.com";
const MARK = "heritage=external-dns,external-dns/owner=prod,external-dns/resource=ingress/shop/web";

/** Declares the tests of reading the TXT records of a zone. */
export function textContract(inWorld: InDNSWorld): void {
  describe("listTexts", () => {
    inWorld("shows texts and the types of other records, and no other zone's", async ({ provider, seed }) => {
      await seed.zone(zoneName);
      await seed.zone("example.org");
      await seed.record(zoneName, "WWW.example.com", "A", "203.0.113.1", 60);
      await seed.record(zoneName, "www.example.com", "AAAA", "2001:db8::1", 60);
      await seed.record(zoneName, "a-www.example.com", "TXT", MARK, 60);
      await seed.record(zoneName, "example.com", "TXT", "v=spf1 -all", 60);
      await seed.record("example.org", "www.example.org", "TXT", "elsewhere", 60);
      const zone = await knownZone(provider);
      const found = await provider.listTexts(zone, 1);
      expect(found?.texts.toSorted((a, b) => (a.fqdn < b.fqdn ? -1 : 1))).toEqual([
        { fqdn: "a-www.example.com", text: MARK },
        { fqdn: "example.com", text: "v=spf1 -all" },
      ]);
      expect(found?.names).toEqual(new Map([["www.example.com", new Set(["A", "AAAA"])]]));
      expect(found && externalOwner("www.example.com", found, true)).toEqual({ id: "prod", mark: "a-www.example.com" });
    });

    inWorld(
      "is undefined where the zone has more records than so many calls show",
      async ({ provider, seed, isWhole }) => {
        await seed.zone(zoneName);
        for (let at = 0; at < 450; at += 1) await seed.record(zoneName, `n${at}.example.com`, "TXT", `text ${at}`, 60);
        const zone = await knownZone(provider);
        expect((await provider.listTexts(zone, 5))?.texts).toHaveLength(450);
        const isOnePage = isWhole === "account" || zone.id !== zoneName;
        expect((await provider.listTexts(zone, 1))?.texts.length).toBe(isOnePage ? 450 : undefined);
      },
    );
  });

  describe("readTexts", () => {
    inWorld("shows the TXT records of one name", async ({ provider, seed }) => {
      await seed.zone(zoneName);
      await seed.record(zoneName, "www.example.com", "A", "203.0.113.1", 60);
      await seed.record(zoneName, "www.example.com", "TXT", MARK, 60);
      await seed.record(zoneName, "www.example.com", "TXT", "another", 60);
      await seed.record(zoneName, "xwww.example.com", "TXT", "of another name", 60);
      const zone = await knownZone(provider);
      const found = await provider.readTexts(zone, "www.example.com");
      expect(found.map(({ text }) => text).toSorted()).toEqual(["another", MARK]);
      expect(await provider.readTexts(zone, "none.example.com")).toEqual([]);
    });
  });
}
