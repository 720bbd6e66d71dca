import { describe, expect } from "vitest";
import { type InDNSWorld, knownZone } from "./dns-provider-world.ts";
import { expectDNSRefusal } from "./expect-dns-refusal.ts";

const zoneName = "example.com";
const fqdn = "www.example.com";
const [ip1, ip2] = ["203.0.113.1", "203.0.113.2"] as const;

/** Declares the tests of writeRecords that the provider or the adapter refuses. */
export function refusalContract(inWorld: InDNSWorld): void {
  describe("writeRecords that cannot be done", () => refusing(inWorld));
}

function refusing(inWorld: InDNSWorld): void {
  inWorld("is refused while a CNAME has the name, and changes nothing", async (world) => {
    await world.seed.zone(zoneName);
    await world.seed.record(zoneName, fqdn, "CNAME", "example.org.", 60);
    const zone = await knownZone(world.provider);
    const call = world.provider.writeRecords(zone, fqdn, { before: [], after: { addresses: [ip1], ttlSeconds: 60 } });
    const error = await expectDNSRefusal(world.provider, call, "refused");
    expect(error.message).toContain("CNAME");
    expect(error.subject).toBe(fqdn);
    expect(await world.records(zoneName)).toHaveLength(1);
  });

  inWorld("is not found in a zone that is gone, and names the zone", async (world) => {
    await world.seed.zone(zoneName);
    const gone = { id: "example.net", name: "example.net" };
    const call = world.provider.writeRecords(gone, "www.example.net", {
      before: [],
      after: { addresses: [ip1], ttlSeconds: 60 },
    });
    const error = await expectDNSRefusal(world.provider, call, "not-found");
    expect(error.message).toContain("example.net");
    expect(await world.records(zoneName)).toEqual([]);
  });

  inWorld("is refused for a name outside the zone, and sends nothing", async (world) => {
    await world.seed.zone(zoneName);
    const zone = await knownZone(world.provider);
    for (const name of ["www.example.org", "wwwexample.com", "com", "", ".example.com", "www..example.com"]) {
      const call = world.provider.writeRecords(zone, name, { before: [], after: { addresses: [ip1], ttlSeconds: 60 } });
      await expectDNSRefusal(world.provider, call, "refused");
    }
    expect([world.writes(), await world.records(zoneName)]).toEqual([0, []]);
  });

  inWorld("is refused for what is no IPv4 address, before anything is changed", async (world) => {
    await world.seed.zone(zoneName);
    world.seed.record(zoneName, fqdn, "A", ip1, 60);
    const zone = await knownZone(world.provider);
    for (const address of ["2001:db8::1", "203.0.113.256", "203.0.113.01", "", "example.org"]) {
      const call = world.provider.writeRecords(zone, fqdn, {
        before: [ip1],
        after: { addresses: [address, ip2], ttlSeconds: 60 },
      });
      await expectDNSRefusal(world.provider, call, "refused");
    }
    expect(world.writes()).toBe(0);
  });
}
