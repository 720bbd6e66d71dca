import { describe, expect, test } from "vitest";
import type { DNSProvider } from "../../../src/ports/providers.ts";
import type { Reply } from "./scripted-server.ts";
import {
  changed,
  fqdn,
  linesOf,
  listed,
  made,
  pageJSON,
  recordJSON,
  recordsPath,
  withDNSServer,
  zone,
} from "./with-dns-server.ts";
import { failureOf, token } from "./with-server.ts";

const [ip1, ip2] = ["203.0.113.1", "203.0.113.2"] as const;
const read = (dns: DNSProvider): Promise<unknown> => dns.readRecords(zone, fqdn);
const clear = (dns: DNSProvider): Promise<unknown> =>
  dns.writeRecords(zone, fqdn, { before: [ip1], after: { addresses: [], ttlSeconds: 60 } });
const fill = (dns: DNSProvider): Promise<unknown> =>
  dns.writeRecords(zone, fqdn, { before: [], after: { addresses: [ip1], ttlSeconds: 60 } });

describe("a filter that does not filter", () => {
  const all = [
    recordJSON(1, "ns1.digitalocean.com.", { type: "NS", name: "@" }),
    recordJSON(2, ip2, { name: "@" }),
    recordJSON(3, ip1),
    recordJSON(4, "2001:db8::1", { type: "AAAA" }),
    recordJSON(5, ip2, { name: "www.example.com" }),
    recordJSON(6, ip2, { name: "xwww" }),
    recordJSON(7, "example.org.", { type: "CNAME" }),
  ];

  test("leaves records of other types and names out", async () => {
    await withDNSServer(listed(...all), async ({ dns }) => {
      expect(await read(dns)).toMatchObject({ fqdn, addresses: [ip1], ttlSeconds: 60, hasDuplicates: false });
    });
  });

  test("does not make another record go", async () => {
    await withDNSServer([listed(...all), { status: 204 }], async ({ dns, server }) => {
      await clear(dns);
      expect(linesOf(server)).toEqual(["LIST", "DELETE /3"]);
    });
  });

  test("is read to its last page", async () => {
    const others = Array.from({ length: 200 }, (_, at) => recordJSON(at + 100, ip2, { name: `n${at}` }));
    const pages = [{ json: pageJSON(others, 201) }, { json: pageJSON([recordJSON(3, ip1)], 201) }];
    await withDNSServer(pages, async ({ dns }) => {
      expect(await read(dns)).toMatchObject({ addresses: [ip1] });
    });
  });
});

describe("malformed answers about DNS", () => {
  const record = (more: object): object => pageJSON([recordJSON(1, ip1, more)]);
  for (const [json, reason] of [
    [{}, "domain_records is missing, not a list"],
    [null, "the body is null, not an object"],
    [[], "the body is a list, not an object"],
    [{ domain_records: null, meta: { total: 0 } }, "domain_records is null, not a list"],
    [{ domain_records: [] }, "meta is missing, not an object"],
    [{ domain_records: [], meta: {} }, "meta.total is missing, not a whole number"],
    [pageJSON([], 3), "domain_records is empty although meta.total is 3"],
    [pageJSON([recordJSON(1, ip1)], 3), "the pages hold 1 records although meta.total is 3"],
    [{ domain_records: [null], meta: { total: 1 } }, "domain_records[0] is null, not an object"],
    [{ domain_records: [{}], meta: { total: 1 } }, "domain_records[0].id is missing, not a numeric id"],
    [record({ id: "1" }), 'domain_records[0].id is "1", not a numeric id'],
    [record({ type: undefined }), "domain_records[0].type is missing, not text"],
    [record({ name: null }), "domain_records[0].name is null, not text"],
    [record({ data: "203.0.113.256" }), 'domain_records[0].data is "203.0.113.256", not an IPv4 address'],
    [record({ data: "" }), 'domain_records[0].data is "", not an IPv4 address'],
    [record({ ttl: "60" }), 'domain_records[0].ttl is "60", not a whole number'],
    [record({ ttl: null }), "domain_records[0].ttl is null, not a whole number"],
  ] as const) {
    test(`are never an empty set: ${reason}`, async () => {
      await withDNSServer({ json, isOffSpec: true }, async ({ dns, server }) => {
        const error = await failureOf(read(dns));
        expect(error).toMatchObject({ failure: "malformed", status: 200, operation: "records", subject: fqdn });
        expect(error.message).toBe(
          `DigitalOcean gave an unusable answer when asked to read the A records of www.example.com in the zone example.com: ${reason} (200)`,
        );
        expect((await failureOf(fill(dns))).failure).toBe("malformed");
        expect(server.requests.map(({ method }) => method)).toEqual(["GET", "GET"]);
      });
    });
  }

  test.for<readonly [string, Reply, string]>([
    ["HTML", { text: `<html>${token}</html>`, headers: { "content-type": "text/html" } }, "malformed"],
    ["an empty body", {}, "malformed"],
    ["half a body of JSON", { text: '{"domain_re', headers: { "content-type": "application/json" } }, "malformed"],
    ["a body that breaks off", { ...listed(recordJSON(1, ip1)), fault: "cut" }, "unavailable"],
    ["no answer", { fault: "drop" }, "unavailable"],
    [
      "a 404 that is a proxy's page",
      { status: 404, text: "<html>", headers: { "content-type": "text/html" } },
      "malformed",
    ],
  ])("are never an empty set: %s", async ([, reply, failure]) => {
    await withDNSServer(reply, async ({ dns, server }) => {
      expect((await failureOf(read(dns))).failure).toBe(failure);
      expect((await failureOf(fill(dns))).failure).toBe(failure);
      expect(server.requests.every(({ method }) => method === "GET")).toBe(true);
    });
  });

  test.for<readonly [string, Reply]>([
    ["HTML", { text: "<html>", headers: { "content-type": "text/html" } }],
    ["a 404 that is a proxy's page", { status: 404, text: "<html>", headers: { "content-type": "text/html" } }],
    ["another zone", { json: { domain: { name: "example.org" } } }],
    ["no zone", { json: { domain: null }, isOffSpec: true }],
    ["a nameless zone", { json: { domain: {} } }],
  ])("are never a missing zone: %s", async ([, reply]) => {
    await withDNSServer(reply, async ({ dns }) => {
      const error = await failureOf(dns.findZone("example.com"));
      expect(error).toMatchObject({ failure: "malformed", operation: "zone", subject: "example.com" });
    });
  });

  test("a page that repeats what was seen is no more records", async () => {
    const records = Array.from({ length: 200 }, (_, at) => recordJSON(at + 1, `198.18.0.${at}`));
    const pages = [{ json: pageJSON(records, 201) }, { json: pageJSON(records.slice(0, 1), 201) }];
    await withDNSServer(pages, async ({ dns }) => {
      const error = await failureOf(read(dns));
      expect(error.failure).toBe("malformed");
      expect(error.message).toContain("(page 2): the pages hold 200 records although meta.total is 201");
    });
  });

  const many = Array.from({ length: 201 }, (_, at) => recordJSON(at + 1, `198.18.${at >> 8}.${at & 255}`));
  test.for<readonly [string, readonly Reply[], string]>([
    [
      "whose total sinks to what was seen",
      [{ json: pageJSON(many.slice(0, 200), 450) }, { json: pageJSON(many.slice(200), 201) }],
      "meta.total changed from 450 to 201 between pages",
    ],
    [
      "whose total grows to what is seen",
      [{ json: pageJSON(many.slice(0, 199), 300) }, { json: pageJSON(many.slice(199), 201) }],
      "meta.total changed from 300 to 201 between pages",
    ],
    [
      "that show a record twice beside as many as they say",
      [{ json: pageJSON(many.slice(0, 200), 201) }, { json: pageJSON(many.slice(199), 201) }],
      "200 is shown twice",
    ],
    ["that show more than they say", [{ json: pageJSON(many.slice(0, 3), 1) }], "the pages hold 3 records although"],
  ])("pages %s are never taken for the set", async ([, replies, reason]) => {
    await withDNSServer([...replies], async ({ dns }) => {
      const error = await failureOf(read(dns));
      expect(error.failure).toBe("malformed");
      expect(error.message).toContain(reason);
    });
  });

  for (const [answer, reason] of [
    [made(recordJSON(7, ip2)), `domain_record.data is ${ip2}, not ${ip1}`],
    [made(recordJSON(7, ip1, { name: "www.example.com" })), "domain_record is not an A record named www"],
    [made(recordJSON(7, ip1, { type: "AAAA" })), "domain_record is not an A record named www"],
    [{ status: 201, json: {} }, "domain_record is missing, not an object"],
  ] as const) {
    test(`leave open whether a record was made: ${reason}`, async () => {
      await withDNSServer([listed(), answer], async ({ dns, server }) => {
        const error = await failureOf(fill(dns));
        expect(error).toMatchObject({ failure: "malformed", status: 201, isAmbiguous: true, operation: "add-record" });
        expect(error.message).toBe(
          `DigitalOcean gave an unusable answer when asked to add ${ip1} to the A records of www.example.com in the zone example.com: ${reason} (201); it may have taken effect all the same`,
        );
        expect(server.requests.map(({ path }) => path.split("?")[0])).toEqual([recordsPath, recordsPath]);
      });
    });
  }

  test("of a TTL that is another record's are a fault", async () => {
    const script = [listed(recordJSON(7, ip1, { ttl: 300 })), changed(recordJSON(8, ip1))];
    const change = { before: [ip1], after: { addresses: [ip1], ttlSeconds: 60 } };
    await withDNSServer(script, async ({ dns }) => {
      const error = await failureOf(dns.writeRecords(zone, fqdn, change));
      expect(error).toMatchObject({ failure: "malformed", operation: "set-ttl", isAmbiguous: true });
      expect(error.message).toContain("domain_record.id is 8, not 7");
    });
  });
});
