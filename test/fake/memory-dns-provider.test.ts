import { describe, expect, test } from "vitest";
import { ProviderError } from "../../src/model/errors.ts";
import type { Zone } from "../../src/ports/dns-provider.ts";
import { MemoryDNSProvider, type MemoryDNSView } from "./memory-dns-provider.ts";

const zone: Zone = { id: "example.com", name: "example.com" };
const fqdn = "www.example.com";
const [ip1, ip2, ip3] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;

interface Stage {
  readonly dns: MemoryDNSProvider;
  readonly views: readonly MemoryDNSView[];
}

function stage(...ips: readonly string[]): Stage {
  const views: MemoryDNSView[] = [];
  const dns = new MemoryDNSProvider({ onChange: (view) => views.push(view) });
  dns.addZone("example.com");
  for (const content of ips) dns.addRecord("example.com", { fqdn, type: "A", content, ttlSeconds: 60 });
  return { dns, views };
}

function lost(): ProviderError {
  const facts = { provider: "digitalocean", operation: "write", subject: fqdn, status: 0, message: "no answer" };
  return new ProviderError({ ...facts, failure: "timeout", isAmbiguous: true });
}

function contents({ dns }: Stage): readonly string[] {
  return dns.records("example.com").map((record) => record.content);
}

const desired = { addresses: [ip2, ip3], ttlSeconds: 300 };

describe("the views of the memory DNS provider", () => {
  test("show the set after every single change: adds, the TTL, removals", async () => {
    const { dns, views } = stage(ip1, ip2);
    await dns.writeRecords(zone, fqdn, desired);
    const sets = [
      [ip1, ip2, ip3],
      [ip1, ip2, ip3],
      [ip2, ip3],
    ];
    expect(views).toEqual(sets.map((addresses) => ({ fqdn, addresses })));
  });
});

describe("faults of the memory DNS provider", () => {
  test.for([
    ["throw", { throw: lost() }, [ip1, ip2]],
    ["throwAfter 0 changes", { throwAfter: lost(), changes: 0 }, [ip1, ip2]],
    ["throwAfter 1 change", { throwAfter: lost(), changes: 1 }, [ip1, ip2, ip3]],
    ["throwAfter 3 changes, which are all,", { throwAfter: lost(), changes: 3 }, [ip2, ip3]],
    ["throwAfter", { throwAfter: lost() }, [ip2, ip3]],
  ] as const)("%s leaves what was done until then", async ([, fault, left]) => {
    const world = stage(ip1, ip2);
    world.dns.beforeCall = (operation) => (operation === "write" ? fault : undefined);
    await expect(world.dns.writeRecords(zone, fqdn, desired)).rejects.toThrow("no answer");
    expect(contents(world)).toEqual(left);
  });

  test("throwAfter more changes than the call makes is no fault", async () => {
    const world = stage(ip1, ip2);
    world.dns.beforeCall = () => ({ throwAfter: lost(), changes: 4 });
    expect(await world.dns.writeRecords(zone, fqdn, desired)).toMatchObject(desired);
  });

  test("are asked for with operation, subject and how often that was called", async () => {
    const { dns } = stage();
    const asked: unknown[] = [];
    dns.beforeCall = (...call) => void asked.push(call);
    await dns.findZone("example.com");
    await dns.readRecords(zone, fqdn);
    await dns.readRecords(zone, fqdn);
    await dns.readRecords(zone, "example.com");
    await dns.writeRecords(zone, fqdn, { addresses: [], ttlSeconds: 60 });
    expect(asked).toEqual([
      ["zone", "example.com", 1],
      ["records", fqdn, 1],
      ["records", fqdn, 2],
      ["records", "example.com", 1],
      ["write", fqdn, 1],
    ]);
  });
});

describe("the record of the memory DNS provider", () => {
  test("lists every call that reached it, and counts them by outcome", async () => {
    const { dns } = stage(ip1);
    await dns.writeRecords(zone, fqdn, desired);
    dns.beforeCall = () => ({ throw: lost() });
    await expect(dns.readRecords(zone, fqdn)).rejects.toThrow(ProviderError);
    await expect(dns.readRecords(zone, "www.example.org")).rejects.toMatchObject({ failure: "refused" });
    expect(dns.recorded).toEqual([
      { operation: "write", subject: fqdn, detail: `write ${fqdn}: ${ip2} ${ip3} ttl 300` },
      { operation: "records", subject: fqdn, detail: `read ${fqdn}` },
    ]);
    expect(dns.calls()).toEqual([
      { operation: "records", outcome: "error", count: 1 },
      { operation: "write", outcome: "success", count: 1 },
    ]);
  });
});

describe("what other providers have", () => {
  test("a zone whose name the token may not read is found by its id alone, and takes any full name", async () => {
    const dns = new MemoryDNSProvider({ name: "cloudflare", minimumTTLSeconds: 60 });
    dns.addZone("example.com", { id: "0123456789abcdef0123456789abcdef", isNameHidden: true });
    expect(await dns.findZone("example.com")).toBeUndefined();
    const found = await dns.findZone("0123456789abcdef0123456789abcdef");
    expect(found).toEqual({ id: "0123456789abcdef0123456789abcdef" });
    const state = await dns.writeRecords(found ?? zone, fqdn, { addresses: [ip1], ttlSeconds: 30 });
    expect(state).toMatchObject({ addresses: [ip1], ttlSeconds: 60 });
  });

  test("a TTL that the provider decides is not shown and never a difference", async () => {
    const { dns, views } = stage(ip1);
    dns.setTTLAutomatic("example.com", fqdn);
    const state = await dns.writeRecords(zone, fqdn, { addresses: [ip1], ttlSeconds: 300 });
    expect(state).toEqual({ fqdn, addresses: [ip1], isTTLAutomatic: true, hasDuplicates: false });
    expect(views).toEqual([]);
    dns.setTTLAutomatic("example.com", fqdn, false);
    expect((await dns.readRecords(zone, fqdn)).ttlSeconds).toBe(60);
  });

  test("a zone that is taken away is not found any more", async () => {
    const { dns } = stage(ip1);
    dns.removeZone("example.com");
    expect(await dns.findZone("example.com")).toBeUndefined();
    await expect(dns.readRecords(zone, fqdn)).rejects.toMatchObject({ failure: "not-found", status: 404 });
  });
});
