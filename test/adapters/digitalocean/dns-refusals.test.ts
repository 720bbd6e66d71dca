import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createClient } from "../../../src/adapters/digitalocean/api.ts";
import { openDigitalOcean, openDigitalOceanReaders } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import type { DNSProvider } from "../../../src/ports/providers.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { addressJSON, errorJSON } from "./api-objects.ts";
import type { Received, Reply } from "./scripted-server.ts";
import { fqdn, linesOf, listed, recordJSON, withDNSServer, zone } from "./with-dns-server.ts";
import { failureOf, token } from "./with-server.ts";

const [ip1, ip2, ip3] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;
const notFound: Reply = { status: 404, json: errorJSON("not_found", "The resource you requested could not be found.") };
const forbidden: Reply = { status: 403, json: errorJSON("Forbidden", "You are not authorized") };
const serverError: Reply = { status: 503, json: errorJSON("server_error", "Out of order") };

/** Planned on the records that are read first. */
function write(
  dns: DNSProvider,
  addresses: readonly string[],
  { before = [], ttlSeconds = 60 }: { readonly before?: readonly string[]; readonly ttlSeconds?: number } = {},
): Promise<unknown> {
  return dns.writeRecords(zone, fqdn, { before, after: { addresses, ttlSeconds } });
}

describe("refusals about DNS", () => {
  test("a zone that is not there is undefined, a list in it is not found and names it", async () => {
    await withDNSServer(notFound, async ({ dns }) => {
      expect(await dns.findZone("example.com")).toBeUndefined();
      const error = await failureOf(dns.readRecords(zone, fqdn));
      expect(error).toMatchObject({ failure: "not-found", status: 404, operation: "records", subject: fqdn });
      expect(error.message).toBe(
        "DigitalOcean refused to read the A records of www.example.com in the zone example.com: The resource you requested could not be found. (404). The account has no zone example.com: add it there, or correct dnsRecordSet.zone.",
      );
    });
  });

  test("a zone that goes away before a record is made is not found and named", async () => {
    await withDNSServer([listed(), notFound], async ({ dns }) => {
      const error = await failureOf(write(dns, [ip1]));
      expect(error).toMatchObject({ failure: "not-found", operation: "add-record", isAmbiguous: false });
      expect(error.message).toContain("The account has no zone example.com");
    });
  });

  test("a CNAME in the way is refused in the provider's words, after a look whether the record stands", async () => {
    const message = "CNAME records cannot share a name with other records";
    const refusal = { status: 422, json: errorJSON("unprocessable_entity", message) };
    await withDNSServer([listed(), refusal, listed()], async ({ dns, server }) => {
      const error = await failureOf(write(dns, [ip1, ip2]));
      expect(error).toMatchObject({ failure: "refused", status: 422, subject: fqdn, isAmbiguous: false });
      expect(error.message).toBe(
        `DigitalOcean refused to add ${ip1} to the A records of www.example.com in the zone example.com: ${message} (422)`,
      );
      expect(linesOf(server)).toEqual(["LIST", ["POST ", expect.anything()], "LIST"]);
    });
  });

  test.for([
    ["domain:read", [forbidden], [], []],
    ["domain:create", [listed(), forbidden], [], [ip1]],
    ["domain:update", [listed(recordJSON(7, ip1, { ttl: 300 })), forbidden], [ip1], [ip1]],
    ["domain:delete", [listed(recordJSON(7, ip1)), forbidden], [ip1], []],
  ] as const)("a token without %s is told so", async ([scope, script, before, addresses]) => {
    await withDNSServer(script, async ({ dns }) => {
      const error = await failureOf(write(dns, addresses, { before }));
      expect(error).toMatchObject({ failure: "forbidden", status: 403, isAmbiguous: false });
      expect(error.message).toMatch(new RegExp(`Give the token the scope ${scope}\\.$`));
    });
  });

  test("a 403 is no missing zone", async () => {
    await withDNSServer(forbidden, async ({ dns }) => {
      expect(await failureOf(dns.findZone("example.com"))).toMatchObject({ failure: "forbidden", operation: "zone" });
    });
  });

  test("a read is repeated once after a 5xx, and goes on", async () => {
    await withDNSServer([serverError, listed(recordJSON(7, ip1))], async ({ dns, server }) => {
      expect(await dns.readRecords(zone, fqdn)).toMatchObject({ addresses: [ip1] });
      expect(server.requests).toHaveLength(2);
    });
  });

  test.for([
    ["add-record", [listed()], [], 60],
    ["set-ttl", [listed(recordJSON(7, ip1))], [ip1], 300],
    ["remove-record", [listed(recordJSON(7, ip1), recordJSON(8, ip2))], [ip1, ip2], 60],
  ] as const)("%s is not repeated after a 5xx, and leaves open whether it took effect", async (row) => {
    const [operation, script, before, ttlSeconds] = row;
    await withDNSServer([...script, serverError], async ({ dns, server }) => {
      const error = await failureOf(write(dns, [ip1], { before, ttlSeconds }));
      expect(error).toMatchObject({ failure: "unavailable", status: 503, isAmbiguous: true, operation, subject: fqdn });
      expect(server.requests).toHaveLength(2);
    });
  });

  test("a failure ends the write at once: nothing is removed before all is added", async () => {
    const script = [listed(recordJSON(7, ip1)), serverError];
    await withDNSServer(script, async ({ dns, server }) => {
      await failureOf(write(dns, [ip2, ip3], { before: [ip1] }));
      expect(linesOf(server)).toEqual(["LIST", ["POST ", expect.objectContaining({ data: ip2 })]]);
    });
  });
});

/** Answers the zone and the address of the tests 20 ms after as many requests as said have come, however long they are on their way. */
function afterAWhile(count: number): (request: Received, at: number) => Reply {
  const came = Promise.withResolvers<void>();
  return ({ path }, at) => {
    if (at + 1 >= count) came.resolve();
    const json = path.includes("domains") ? { domain: { name: "example.com" } } : { reserved_ip: addressJSON(ip1) };
    return { json, after: came.promise.then(() => sleep(20)) };
  };
}

describe("a caller that is shared", () => {
  test("stops DNS after a 429 of the addresses, and the addresses after a 429 of DNS", async () => {
    const tooMany: Reply = {
      status: 429,
      json: errorJSON("too_many_requests", "API rate limit exceeded."),
      headers: { "retry-after": "20" },
    };
    await withDNSServer(tooMany, async ({ server }) => {
      const clock = new FakeClock();
      const options = { token, baseURL: server.url, userAgent: "flipop/0", clock };
      const caller = createClient(options);
      const addresses = openDigitalOcean(options, caller).addresses;
      const dns = openDigitalOcean(options, caller).dns;
      expect(await failureOf(addresses.getAddress(ip1))).toMatchObject({ failure: "rate-limited", status: 429 });
      for (const call of [dns.findZone("example.com"), dns.readRecords(zone, fqdn), write(dns, [ip1])]) {
        expect(await failureOf(call)).toMatchObject({ failure: "rate-limited", status: 0 });
      }
      expect(server.requests).toHaveLength(1);
      await clock.advance(20_000);
      expect(await failureOf(dns.findZone("example.com"))).toMatchObject({ failure: "put-off", status: 0 });
      await clock.advance(5000);
      expect(await failureOf(dns.findZone("example.com"))).toMatchObject({ failure: "rate-limited", status: 429 });
      expect(await failureOf(addresses.listPage(1))).toMatchObject({ failure: "rate-limited", status: 0 });
      expect(server.requests).toHaveLength(2);
    });
  });

  test("lets addresses go first after each 429, so that names which are refused for ever do not shut them out", async () => {
    const tooMany: Reply = {
      status: 429,
      json: errorJSON("too_many_requests", "API rate limit exceeded."),
      headers: { "retry-after": "20" },
    };
    const names = (request: Received): Reply => (request.path.includes("/domains") ? tooMany : { status: 204 });
    await withDNSServer(names, async ({ server }) => {
      const clock = new FakeClock();
      const options = { token, baseURL: server.url, userAgent: "flipop/0", clock };
      const { addresses, dns } = openDigitalOcean(options, createClient(options));
      const answers = async (): Promise<readonly unknown[]> => {
        // The name is asked for first, as it is where both are looked at in one pass.
        const name = failureOf(dns.findZone("example.com"));
        const address = failureOf(addresses.getAddress(ip1));
        return [(await name).failure, (await address).status];
      };
      await failureOf(addresses.getAddress(ip1));
      expect(await failureOf(dns.findZone("example.com"))).toMatchObject({ status: 429 });
      for (let at = 0; at < 3; at += 1) {
        await clock.advance(20_000);
        expect(await answers()).toEqual(["put-off", 204]);
        await clock.advance(5000);
        expect(await failureOf(dns.findZone("example.com"))).toMatchObject({ status: 429 });
      }
    });
  });

  test("makes names wait for nobody where no address is ever asked for", async () => {
    const tooMany: Reply = {
      status: 429,
      json: errorJSON("too_many_requests", "API rate limit exceeded."),
      headers: { "retry-after": "20" },
    };
    await withDNSServer(tooMany, async ({ server }) => {
      const clock = new FakeClock();
      const { dns } = openDigitalOcean({ token, baseURL: server.url, userAgent: "flipop/0", clock });
      expect(await failureOf(dns.findZone("example.com"))).toMatchObject({ status: 429 });
      await clock.advance(20_000);
      expect(await failureOf(dns.findZone("example.com"))).toMatchObject({ status: 429 });
    });
  });

  test("has at most four requests in flight and one for an address, and one count of all calls", async () => {
    // However slow the machine is: no call is taken to have no answer for long, which would let one more begin.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await withDNSServer(afterAWhile(5), async ({ server }) => {
      const options = { token, baseURL: server.url, userAgent: "flipop/0", clock: SYSTEM_CLOCK };
      const caller = createClient(options);
      const addresses = openDigitalOceanReaders(options, caller).addresses;
      const dns = openDigitalOceanReaders(options, caller).dns;
      const six = [1, 2, 3, 4, 5, 6];
      await Promise.all(six.flatMap(() => [addresses.getAddress(ip1), dns.findZone("example.com")]));
      expect(server.mostOpen()).toBe(5);
      const counts = [
        { operation: "get", outcome: "success", count: 6 },
        { operation: "zone", outcome: "success", count: 6 },
      ];
      expect([dns.calls(), addresses.calls()]).toEqual([counts, counts]);
    });
  });

  test("sends calls about addresses before those about names that have waited longer", async () => {
    await withDNSServer(afterAWhile(4), async ({ server }) => {
      const options = { token, baseURL: server.url, userAgent: "flipop/0", clock: SYSTEM_CLOCK };
      const caller = createClient(options);
      const dns = openDigitalOcean(options, caller).dns;
      const names = Array.from({ length: 12 }, () => dns.findZone("example.com"));
      await openDigitalOcean(options, caller).addresses.getAddress(ip1);
      await Promise.all(names);
      // Four were in flight before it, and as many may overtake it on their way.
      expect(server.requests.findIndex(({ path }) => path.includes("reserved_ips"))).toBeLessThanOrEqual(8);
    });
  });
});
