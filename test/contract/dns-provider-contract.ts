import { describe, expect, test } from "vitest";
import type { Zone } from "../../src/model/dns.ts";
import { familyContract } from "./dns-provider-family-contract.ts";
import { faultContract } from "./dns-provider-fault-contract.ts";
import { listContract } from "./dns-provider-list-contract.ts";
import { refusalContract } from "./dns-provider-refusal-contract.ts";
import { sharedContract } from "./dns-provider-shared-contract.ts";
import { staleContract } from "./dns-provider-stale-contract.ts";
import { textContract } from "./dns-provider-text-contract.ts";
import { type DNSProviderWorld, type InDNSWorld, knownZone } from "./dns-provider-world.ts";
import { writeContract } from "./dns-provider-write-contract.ts";
import { expectDNSRefusal } from "./expect-dns-refusal.ts";

export type { DNSProviderWorld, SeenRecord } from "./dns-provider-world.ts";

const zoneName = "example.com";
const fqdn = "www.example.com";

/** Declares the tests that every DNSProvider must pass, on a new world each. */
export function dnsProviderContract(name: string, makeWorld: () => DNSProviderWorld | Promise<DNSProviderWorld>): void {
  function inWorld(title: string, body: (world: DNSProviderWorld) => Promise<void>): void {
    test(title, async () => {
      const world = await makeWorld();
      try {
        await body(world);
      } finally {
        await world.dispose();
      }
    });
  }

  describe(`${name} as a DNS provider`, () => {
    describe("findZone", () => findingZones(inWorld));
    describe("readRecords", () => readingRecords(inWorld));
    listContract(inWorld);
    textContract(inWorld);
    describe("readRecords of a name that resembles others", () => tellingNamesApart(inWorld));
    writeContract(inWorld);
    staleContract(inWorld);
    refusalContract(inWorld);
    faultContract(inWorld);
    sharedContract(inWorld);
    familyContract(inWorld);
  });
}

function findingZones(inWorld: InDNSWorld): void {
  inWorld("finds a zone by its name", async ({ provider, seed }) => {
    await seed.zone("example.org");
    await seed.zone(zoneName);
    expect(await provider.findZone(zoneName)).toEqual({ id: expect.stringMatching(/./), name: zoneName });
  });

  inWorld("finds a zone in whatever case its name is written, with or without the last dot", async (world) => {
    await world.seed.zone(zoneName);
    const zone = await knownZone(world.provider);
    expect(await world.provider.findZone("Example.COM")).toEqual(zone);
    expect(await world.provider.findZone("example.com.")).toEqual(zone);
  });

  inWorld("is undefined for a zone that the account does not have", async ({ provider, seed, isWhole }) => {
    await seed.zone(zoneName);
    expect(await provider.findZone("example.net")).toBeUndefined();
    if (isWhole !== "account") expect(await provider.findZone("www.example.com")).toBeUndefined();
    expect(await provider.findZone("com")).toBeUndefined();
  });

  inWorld("refuses a name that no zone could have", async ({ provider, seed }) => {
    await seed.zone(zoneName);
    for (const name of ["", ".", "example..com", "example.com/records", "exa mple.com"]) {
      await expectDNSRefusal(provider, provider.findZone(name), "refused");
    }
  });
}

function readingRecords(inWorld: InDNSWorld): void {
  inWorld("is an empty set for a name without records", async ({ provider, seed }) => {
    await seed.zone(zoneName);
    const state = await provider.readRecords(await knownZone(provider), fqdn);
    expect(state).toEqual({ fqdn, addresses: [], isTTLAutomatic: false, hasDuplicates: false });
  });

  inWorld("shows addresses sorted by text, and their TTL", async ({ provider, seed }) => {
    await seed.zone(zoneName);
    for (const ip of ["203.0.113.9", "203.0.113.10", "192.0.2.1"]) await seed.record(zoneName, fqdn, "A", ip, 120);
    expect(await provider.readRecords(await knownZone(provider), fqdn)).toEqual({
      fqdn,
      addresses: ["192.0.2.1", "203.0.113.10", "203.0.113.9"],
      ttlSeconds: 120,
      isTTLAutomatic: false,
      hasDuplicates: false,
    });
  });

  inWorld("shows an address once when it stands in two records, and says so", async ({ provider, seed, isWhole }) => {
    await seed.zone(zoneName);
    for (const ip of ["203.0.113.1", "203.0.113.2", "203.0.113.1"]) await seed.record(zoneName, fqdn, "A", ip, 60);
    expect(await provider.readRecords(await knownZone(provider), fqdn)).toMatchObject({
      addresses: ["203.0.113.1", "203.0.113.2"],
      ttlSeconds: 60,
      hasDuplicates: isWhole !== "name",
    });
  });

  inWorld("shows no TTL when the records differ in it", async ({ provider, seed, isWhole }) => {
    await seed.zone(zoneName);
    await seed.record(zoneName, fqdn, "A", "203.0.113.1", 60);
    await seed.record(zoneName, fqdn, "A", "203.0.113.2", 300);
    const state = await provider.readRecords(await knownZone(provider), fqdn);
    expect(state.addresses).toEqual(["203.0.113.1", "203.0.113.2"]);
    expect(state.ttlSeconds).toBe(isWhole === "name" ? 300 : undefined);
  });

  inWorld("shows every record of a name that has 205", async ({ provider, seed }) => {
    await seed.zone(zoneName);
    const ips = Array.from({ length: 205 }, (_, at) => `198.18.0.${at}`);
    for (const ip of ips) await seed.record(zoneName, fqdn, "A", ip, 60);
    const state = await provider.readRecords(await knownZone(provider), fqdn);
    expect(state).toMatchObject({ addresses: ips.toSorted(), ttlSeconds: 60, hasDuplicates: false });
  });

  inWorld("is not found in a zone that is gone, and names the zone", async ({ provider, seed }) => {
    await seed.zone(zoneName);
    const gone: Zone = { id: "example.net", name: "example.net" };
    const call = provider.readRecords(gone, "www.example.net");
    const error = await expectDNSRefusal(provider, call, "not-found");
    expect(error).toMatchObject({ operation: "records" });
    expect(error.message).toContain("example.net");
  });
}

function tellingNamesApart(inWorld: InDNSWorld): void {
  inWorld("shows only A records of exactly that name", async ({ provider, seed }) => {
    await seed.zone(zoneName);
    await seed.record(zoneName, fqdn, "A", "203.0.113.1", 60);
    await seed.record(zoneName, fqdn, "AAAA", "2001:db8::1", 60);
    await seed.record(zoneName, fqdn, "TXT", "203.0.113.7", 60);
    for (const other of ["a.www.example.com", "xwww.example.com", "www.example.com.example.com", "example.com"]) {
      await seed.record(zoneName, other, "A", "203.0.113.8", 60);
    }
    const state = await provider.readRecords(await knownZone(provider), fqdn);
    expect(state.addresses).toEqual(["203.0.113.1"]);
  });

  inWorld("shows the zone's own records at its name", async ({ provider, seed }) => {
    await seed.zone(zoneName);
    await seed.record(zoneName, zoneName, "A", "203.0.113.1", 60);
    await seed.record(zoneName, fqdn, "A", "203.0.113.2", 60);
    const state = await provider.readRecords(await knownZone(provider), zoneName);
    expect(state).toMatchObject({ fqdn: zoneName, addresses: ["203.0.113.1"] });
  });

  inWorld("shows a wildcard's records at its name alone", async ({ provider, seed }) => {
    await seed.zone(zoneName);
    await seed.record(zoneName, "*.apps.example.com", "A", "203.0.113.1", 60);
    const zone = await knownZone(provider);
    expect((await provider.readRecords(zone, "*.apps.example.com")).addresses).toEqual(["203.0.113.1"]);
    expect((await provider.readRecords(zone, "www.apps.example.com")).addresses).toEqual([]);
  });

  inWorld("shows a record whose name was written in capitals", async ({ provider, seed }) => {
    await seed.zone(zoneName);
    await seed.record(zoneName, "WWW.Example.com", "A", "203.0.113.1", 60);
    const state = await provider.readRecords(await knownZone(provider), fqdn);
    expect(state).toMatchObject({ fqdn, addresses: ["203.0.113.1"] });
  });

  inWorld("shows the records of the zone it was asked for when one zone lies in another", async (world) => {
    const { provider, seed, isWhole } = world;
    await seed.zone(zoneName);
    await seed.zone("sub.example.com");
    await seed.record(zoneName, "www.sub.example.com", "A", "203.0.113.1", 60);
    await seed.record("sub.example.com", "www.sub.example.com", "A", "203.0.113.2", 60);
    const inner = await knownZone(provider, "sub.example.com");
    const all = ["203.0.113.1", "203.0.113.2"];
    const { addresses } = await provider.readRecords(inner, "www.sub.example.com");
    expect(addresses).toEqual(isWhole === "account" ? all : ["203.0.113.2"]);
  });
}
