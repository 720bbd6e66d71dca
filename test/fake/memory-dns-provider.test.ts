import { describe, expect, test } from "vitest";
import type { Zone } from "../../src/model/dns.ts";
import { ProviderError } from "../../src/model/errors.ts";
import { FakeClock } from "./fake-clock.ts";
import type { MemoryFault } from "./memory-cloud-calls.ts";
import { CLOUDFLARE_DNS, DIGITALOCEAN_DNS, MemoryDNSAccount, type MemoryDNSFlavour } from "./memory-dns-account.ts";
import { MemoryDNSProvider, type MemoryDNSProviderOptions } from "./memory-dns-provider.ts";

const zone: Zone = { id: "example.com", name: "example.com" };
const fqdn = "www.example.com";
const [ip1, ip2, ip3, ip4] = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"] as const;
const isThis = (content: string) => (record: { readonly content: string }) => record.content === content;

interface Stage {
  readonly account: MemoryDNSAccount;
  readonly dns: MemoryDNSProvider;
}

function stage(
  ips: readonly string[],
  flavour: MemoryDNSFlavour = DIGITALOCEAN_DNS,
  options: MemoryDNSProviderOptions = {},
): Stage {
  const account = new MemoryDNSAccount(flavour);
  account.addZone("example.com", { id: "example.com" });
  for (const content of ips) account.addRecord("example.com", { fqdn, type: "A", content, ttlSeconds: 60 });
  account.views.length = 0;
  return { account, dns: new MemoryDNSProvider({ account, ...options }) };
}

function failed(failure: "timeout" | "rate-limited", notBeforeMs?: number): ProviderError {
  const facts = { provider: "digitalocean", operation: "write", subject: fqdn, status: 0, message: "no answer" };
  const more = notBeforeMs === undefined ? {} : { notBeforeMs };
  return new ProviderError({ ...facts, failure, isAmbiguous: failure === "timeout", ...more });
}

function contents({ account }: Stage): readonly string[] {
  return account.records("example.com").map((record) => record.content);
}

function operations({ dns }: Stage): readonly string[] {
  return dns.recorded.map(({ operation }) => operation);
}

const change = { before: [ip1, ip2], after: { addresses: [ip2, ip3], ttlSeconds: 300 } };

describe("the history of a name", () => {
  test("shows the set after every record at DigitalOcean, whose new record sets the TTL of all", async () => {
    const world = stage([ip1, ip2]);
    await world.dns.writeRecords(zone, fqdn, change);
    expect(world.account.history(fqdn)).toEqual([
      [ip1, ip2, ip3],
      [ip2, ip3],
    ]);
    expect(operations(world)).toEqual(["records", "add-record", "records", "remove-record"]);
  });

  test("shows the set after the one batch at Cloudflare", async () => {
    const world = stage([ip1, ip2], CLOUDFLARE_DNS);
    await world.dns.writeRecords(zone, fqdn, change);
    expect(world.account.history(fqdn)).toEqual([[ip2, ip3]]);
    expect(operations(world)).toEqual(["records", "write"]);
  });

  test("shows edits by hand of A records alone, and tells whose change it was", async () => {
    const { account, dns } = stage([ip1]);
    account.addRecord("example.com", { fqdn: "WWW.example.com", type: "A", content: ip2, ttlSeconds: 60 });
    account.addRecord("example.com", { fqdn, type: "TXT", content: "hello", ttlSeconds: 60 });
    account.replaceRecords("example.com", isThis(ip2), { content: ip4 });
    await dns.writeRecords(zone, fqdn, { before: [ip1, ip4], after: { addresses: [ip1], ttlSeconds: 60 } });
    account.removeRecords("example.com", isThis(ip1));
    expect(account.views.map(({ by, addresses }) => [by, ...addresses])).toEqual([
      ["hand", ip1, ip2],
      ["hand", ip1, ip4],
      ["provider", ip1],
      ["hand"],
    ]);
    expect(account.history(fqdn, "provider")).toEqual([[ip1]]);
  });

  test("is told as it happens", async () => {
    const { account, dns } = stage([ip1, ip2]);
    const seen: string[] = [];
    account.onChange = (view) => void seen.push(`${view.zone} ${view.fqdn} ${view.addresses.join()}`);
    await dns.writeRecords(zone, fqdn, { before: [ip1, ip2], after: { addresses: [ip2], ttlSeconds: 60 } });
    expect(seen).toEqual([`example.com ${fqdn} ${ip2}`]);
  });
});

describe("edits by hand", () => {
  test("may change type, content and TTL of any record", () => {
    const { account } = stage([ip1, ip2]);
    account.replaceRecords("example.com", isThis(ip1), { type: "CNAME", content: "example.org", ttlSeconds: 5 });
    expect(account.records("example.com")).toEqual([
      { fqdn, type: "A", content: ip2, ttlSeconds: 60 },
      { fqdn, type: "CNAME", content: "example.org", ttlSeconds: 5 },
    ]);
  });

  test("need a zone", () => {
    const { account } = stage([]);
    account.removeZone("example.com");
    expect(() => account.removeRecords("example.com", isThis(ip1))).toThrow("no zone example.com");
  });
});

describe("a fault", () => {
  const before: MemoryFault = { throw: failed("timeout") };
  const after: MemoryFault = { throwAfter: failed("timeout") };

  test.for([
    [DIGITALOCEAN_DNS, "records", before, [ip1, ip2]],
    [DIGITALOCEAN_DNS, "add-record", before, [ip1, ip2]],
    [DIGITALOCEAN_DNS, "add-record", after, [ip1, ip2, ip3]],
    [DIGITALOCEAN_DNS, "remove-record", before, [ip1, ip2, ip3]],
    [DIGITALOCEAN_DNS, "remove-record", after, [ip2, ip3]],
    [CLOUDFLARE_DNS, "records", after, [ip1, ip2]],
    [CLOUDFLARE_DNS, "write", before, [ip1, ip2]],
    [CLOUDFLARE_DNS, "write", after, [ip2, ip3]],
  ] as const)("of %o at %s leaves what was done until then", async ([flavour, name, fault, left]) => {
    const beforeCall = (operation: string): MemoryFault | undefined => (operation === name ? fault : undefined);
    const world = stage([ip1, ip2], flavour, { beforeCall });
    await expect(world.dns.writeRecords(zone, fqdn, change)).rejects.toThrow("no answer");
    expect(contents(world)).toEqual(left);
    expect(operations(world).at(-1)).toBe(name);
  });

  test("of the TTL may come after it is set", async () => {
    const beforeCall = (operation: string): MemoryFault | undefined => (operation === "set-ttl" ? after : undefined);
    const { account, dns } = stage([ip1, ip2], DIGITALOCEAN_DNS, { beforeCall });
    const more = { before: [ip1, ip2], after: { addresses: [ip1, ip2], ttlSeconds: 300 } };
    await expect(dns.writeRecords(zone, fqdn, more)).rejects.toThrow("no answer");
    expect(account.records("example.com").map((record) => record.ttlSeconds)).toEqual([300, 300]);
  });

  test("that is a 429 keeps every call away until its time, without a record of them", async () => {
    const clock = new FakeClock();
    const limited = { throw: failed("rate-limited", clock.wallMs() + 20_000) };
    const world = stage([ip1], DIGITALOCEAN_DNS, { clock, beforeCall: () => limited });
    await expect(world.dns.findZone("example.com")).rejects.toBe(limited.throw);
    world.dns.beforeCall = undefined;
    const closed = { failure: "rate-limited", status: 0, notBeforeMs: clock.wallMs() + 20_000 };
    await expect(world.dns.readRecords(zone, fqdn)).rejects.toMatchObject(closed);
    expect(operations(world)).toEqual(["zone"]);
    await clock.advance(20_000);
    expect((await world.dns.readRecords(zone, fqdn)).addresses).toEqual([ip1]);
  });
});

describe("a call", () => {
  test("is carried out by whatever is put around it", async () => {
    const around: MemoryDNSProviderOptions["around"] = async ({ operation, subject, isWrite }, effect) => {
      lines.push(`${operation} ${subject} ${isWrite}`);
      return await effect();
    };
    const lines: string[] = [];
    const { dns } = stage([ip1], CLOUDFLARE_DNS, { around });
    await dns.findZone("example.com");
    await dns.writeRecords(zone, fqdn, { before: [ip1], after: { addresses: [ip2], ttlSeconds: 60 } });
    expect(lines).toEqual(["zone example.com false", `records ${fqdn} false`, `write ${fqdn} true`]);
  });

  test("is counted by outcome, and not when it could only be refused", async () => {
    const { dns } = stage([ip1]);
    await dns.readRecords(zone, fqdn);
    dns.beforeCall = () => ({ throw: failed("timeout") });
    await expect(dns.readRecords(zone, fqdn)).rejects.toThrow(ProviderError);
    await expect(dns.readRecords(zone, "www.example.org")).rejects.toMatchObject({ failure: "refused" });
    expect(dns.calls()).toEqual([
      { operation: "records", outcome: "error", count: 1 },
      { operation: "records", outcome: "success", count: 1 },
    ]);
  });

  test("of one provider sees what another one did to their account", async () => {
    const { account, dns } = stage([]);
    await dns.writeRecords(zone, fqdn, { before: [], after: { addresses: [ip1], ttlSeconds: 60 } });
    const other = new MemoryDNSProvider({ account });
    expect((await other.readRecords(zone, fqdn)).addresses).toEqual([ip1]);
    expect(other.recorded).toHaveLength(1);
  });
});

describe("what other providers have", () => {
  test("a zone whose name the token may not read is found by its id alone, and takes any full name", async () => {
    const account = new MemoryDNSAccount(CLOUDFLARE_DNS);
    const id = account.addZone("example.com", { isNameHidden: true });
    const dns = new MemoryDNSProvider({ account });
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(await dns.findZone("example.com")).toBeUndefined();
    expect(await dns.findZone(id)).toEqual({ id });
    const { records } = await dns.writeRecords({ id }, fqdn, {
      before: [],
      after: { addresses: [ip1], ttlSeconds: 30 },
    });
    expect(records).toMatchObject({ addresses: [ip1], ttlSeconds: 60 });
  });

  test("a TTL that the provider decides is not shown and never a difference", async () => {
    const { account, dns } = stage([ip1], CLOUDFLARE_DNS);
    account.setTTLAutomatic("example.com", fqdn);
    const wanted = { before: [ip1], after: { addresses: [ip1], ttlSeconds: 300 } };
    const { records } = await dns.writeRecords(zone, fqdn, wanted);
    expect(records).toEqual({ fqdn, addresses: [ip1], isTTLAutomatic: true, hasDuplicates: false });
    expect(account.views).toEqual([]);
    account.setTTLAutomatic("example.com", fqdn, false);
    expect((await dns.readRecords(zone, fqdn)).ttlSeconds).toBe(60);
  });

  test("a zone that is taken away is not found any more", async () => {
    const { account, dns } = stage([ip1]);
    account.removeZone("example.com");
    expect(await dns.findZone("example.com")).toBeUndefined();
    await expect(dns.readRecords(zone, fqdn)).rejects.toMatchObject({ failure: "not-found", status: 404 });
  });
});
