import { describe, expect, test } from "vitest";
import { openDigitalOceanReaders } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { errorJSON } from "./api-objects.ts";
import {
  changed,
  fqdn,
  linesOf,
  listed,
  listPath,
  made,
  pageJSON,
  recordJSON,
  recordsPath,
  removed,
  withDNSServer,
  zone,
} from "./with-dns-server.ts";
import { token } from "./with-server.ts";

const [ip1, ip2] = ["203.0.113.1", "203.0.113.2"] as const;
const domainJSON = { domain: { name: "example.com", ttl: 1800, zone_file: "$ORIGIN example.com.\n" } };

describe("requests about DNS", () => {
  test("a zone is read by its name, in lower case and without the last dot", async () => {
    await withDNSServer({ json: domainJSON }, async ({ dns, server }) => {
      expect(await dns.findZone("Example.COM.")).toEqual({ id: "example.com", name: "example.com" });
      expect(linesOf(server)).toEqual(["GET /v2/domains/example.com"]);
    });
  });

  test("the zones of the account are told by one page of their names, in lower case", async () => {
    const json = { domains: [{ name: "Example.com" }, { name: "example.org" }], links: {}, meta: { total: 2 } };
    await withDNSServer({ json }, async ({ dns, server }) => {
      expect(await dns.zoneNames?.()).toEqual(["example.com", "example.org"]);
      expect(server.requests.map(({ path }) => path)).toEqual(["/v2/domains?page=1&per_page=200"]);
    });
  });

  test("a list asks for the A records of the whole name, 200 at a time", async () => {
    await withDNSServer(listed(), async ({ dns, server }) => {
      await dns.readRecords(zone, fqdn);
      expect(server.requests.map(({ path }) => path)).toEqual([listPath]);
    });
  });

  test("a list of the zone's own records asks for the zone's name", async () => {
    await withDNSServer(listed(), async ({ dns, server }) => {
      await dns.readRecords(zone, "example.com");
      expect(linesOf(server)).toEqual(["GET ?name=example.com&page=1&per_page=200&type=A"]);
    });
  });

  test("a list goes on until it has as many records as it says", async () => {
    const ips = Array.from({ length: 401 }, (_, at) => `198.18.${at >> 8}.${at & 255}`);
    const records = ips.map((ip, at) => recordJSON(at + 1, ip));
    const pages = [0, 200, 400].map((from) => ({ json: pageJSON(records.slice(from, from + 200), 401) }));
    await withDNSServer(pages, async ({ dns, server }) => {
      expect((await dns.readRecords(zone, fqdn)).addresses).toEqual(ips.toSorted());
      expect(server.requests.map(({ path }) => path)).toEqual(
        [1, 2, 3].map((page) => `${recordsPath}?name=${fqdn}&page=${page}&per_page=200&type=A`),
      );
    });
  });

  test("a full page is the last one when the total says so", async () => {
    const records = Array.from({ length: 200 }, (_, at) => recordJSON(at + 1, `198.18.0.${at}`));
    await withDNSServer(listed(...records), async ({ dns, server }) => {
      expect((await dns.readRecords(zone, fqdn)).addresses).toHaveLength(200);
      expect(server.requests).toHaveLength(1);
    });
  });

  test("a new record has the name relative to its zone, and the desired TTL", async () => {
    await withDNSServer([listed(), made(recordJSON(7, ip1))], async ({ dns, server }) => {
      await dns.writeRecords(zone, fqdn, { before: [], after: { addresses: [ip1], ttlSeconds: 60 } });
      expect(linesOf(server)).toEqual(["LIST", ["POST ", { type: "A", name: "www", data: ip1, ttl: 60 }]]);
    });
  });

  test("a new record's body repeats its keys as the SDK does, which a server must accept", async () => {
    await withDNSServer([listed(), made(recordJSON(7, ip1))], async ({ dns, server }) => {
      await dns.writeRecords(zone, fqdn, { before: [], after: { addresses: [ip1], ttlSeconds: 60 } });
      const once = `"data":"${ip1}","name":"www","ttl":60,"type":"A"`;
      expect(server.requests[1]?.text).toBe(`{${Array.from({ length: 9 }, () => once).join()}}`);
    });
  });

  test.for([
    ["example.com", "@"],
    ["a.b.example.com", "a.b"],
    ["*.example.com", "*"],
    ["example.com.example.com", "example.com"],
  ] as const)("a new record for %s is named %s", async ([name, relative]) => {
    await withDNSServer([listed(), made(recordJSON(7, ip1, { name: relative }))], async ({ dns, server }) => {
      await dns.writeRecords(zone, name, { before: [], after: { addresses: [ip1], ttlSeconds: 60 } });
      expect(server.requests[1]?.body).toMatchObject({ name: relative });
    });
  });

  test("a TTL is changed by a PATCH of one record with type and TTL alone", async () => {
    const script = [
      listed(recordJSON(7, ip1), recordJSON(8, ip2)),
      changed(recordJSON(7, ip1, { ttl: 300 })),
      listed(recordJSON(7, ip1, { ttl: 300 }), recordJSON(8, ip2, { ttl: 300 })),
    ];
    await withDNSServer(script, async ({ dns, server }) => {
      await dns.writeRecords(zone, fqdn, { before: [ip1, ip2], after: { addresses: [ip1, ip2], ttlSeconds: 300 } });
      expect(linesOf(server)).toEqual(["LIST", ["PATCH /7", { type: "A", ttl: 300 }], "LIST"]);
      expect(server.requests[1]?.text).toBe('{"ttl":300,"type":"A"}');
    });
  });

  test("a removal names the record and has no body", async () => {
    await withDNSServer([listed(recordJSON(7, ip1)), removed], async ({ dns, server }) => {
      await dns.writeRecords(zone, fqdn, { before: [ip1], after: { addresses: [], ttlSeconds: 60 } });
      expect(linesOf(server)).toEqual(["LIST", "DELETE /7"]);
    });
  });

  test("a name in capitals or with a last dot is the same name", async () => {
    await withDNSServer(listed(recordJSON(7, ip1)), async ({ dns, server }) => {
      const state = await dns.readRecords({ id: "Example.com." }, "WWW.Example.com.");
      expect(state).toMatchObject({ fqdn, addresses: [ip1] });
      expect(linesOf(server)).toEqual(["LIST"]);
    });
  });

  test.for([
    ["an empty name", zone, ""],
    ["a name of another zone", zone, "www.example.org"],
    ["a name that only ends like the zone", zone, "wwwexample.com"],
    ["a path", zone, "../example.com"],
    ["an empty zone", { id: "" }, fqdn],
    ["a zone that is a path", { id: "example.com/records" }, fqdn],
    ["a label of 64 characters", zone, `${"x".repeat(64)}.example.com`],
  ] as const)("%s is refused before anything is sent", async ([, where, name]) => {
    await withDNSServer(listed(), async ({ dns, server }) => {
      const refused = { failure: "refused", status: 0, operation: "records", subject: name, isAmbiguous: false };
      await expect(dns.readRecords(where, name)).rejects.toMatchObject(refused);
      await expect(
        dns.writeRecords(where, name, { before: [], after: { addresses: [], ttlSeconds: 60 } }),
      ).rejects.toMatchObject(refused);
      expect(server.requests).toHaveLength(0);
    });
  });

  test("every request carries the token and our user agent", async () => {
    await withDNSServer([listed(), made(recordJSON(7, ip1))], async ({ dns, server }) => {
      await dns.writeRecords(zone, fqdn, { before: [], after: { addresses: [ip1], ttlSeconds: 60 } });
      for (const { headers } of server.requests) {
        expect(headers).toMatchObject({ authorization: `Bearer ${token}`, "user-agent": "flipop/0 (test)" });
      }
    });
  });

  test("the reader reads, and has no method that writes", async () => {
    const missing = { status: 404, json: errorJSON("not_found", "Not here.") };
    await withDNSServer([missing, listed(recordJSON(7, ip1))], async ({ server }) => {
      const reader = openDigitalOceanReaders({
        token,
        baseURL: server.url,
        userAgent: "flipop/0",
        clock: SYSTEM_CLOCK,
      }).dns;
      expect(await reader.findZone("example.com")).toBeUndefined();
      expect((await reader.readRecords(zone, fqdn)).addresses).toEqual([ip1]);
      const names = [
        "calls",
        "durations",
        "findZone",
        "isBatched",
        "listRecords",
        "listTexts",
        "name",
        "rateLimit",
        "readRecords",
        "readTexts",
        "ttlRules",
        "zoneNames",
      ];
      expect(Object.keys(reader).sort()).toEqual(names);
      expect([reader.isBatched, reader.ttlRules]).toEqual([
        false,
        { minimumSeconds: 30, maximumSeconds: 2_147_483_647, isOfName: true },
      ]);
    });
  });
});
