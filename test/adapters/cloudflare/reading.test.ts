import { describe, expect, test } from "vitest";
import { fqdn, listJSON, okJSON, recordJSON, recordsPath, zoneID } from "./api-objects.ts";
import { failureOf, token, withServer, zone } from "./with-server.ts";

function page(count: number, from: number): readonly object[] {
  return Array.from({ length: count }, (_, at) =>
    recordJSON(`r${from + at}`, `198.18.${(from + at) >> 8}.${(from + at) & 255}`),
  );
}

describe("a read", () => {
  test("asks for the A records of exactly that name, with the token and our name, and nothing else", async () => {
    await withServer({ json: listJSON([recordJSON("a", "203.0.113.1")]) }, async ({ read, server }) => {
      expect(await read()).toEqual({
        fqdn,
        addresses: ["203.0.113.1"],
        ttlSeconds: 60,
        isTTLAutomatic: false,
        hasDuplicates: false,
      });
      expect(server.requests).toHaveLength(1);
      const { method, path, query, headers } = server.requests[0] ?? { headers: {} };
      expect([method, path]).toEqual(["GET", recordsPath]);
      expect(query).toEqual({ "name.exact": fqdn, type: "A", page: "1", per_page: "100" });
      expect(headers).toMatchObject({ authorization: `Bearer ${token}`, "user-agent": "flipop/0 (test)" });
      expect(Object.keys(headers).filter((name) => /stainless|api-version|x-auth|content-type/.test(name))).toEqual([]);
    });
  });

  test("takes a name in capitals, with a last dot or in other letters as the same name", async () => {
    const json = listJSON([recordJSON("a", "203.0.113.1", { name: "xn--bcher-kva.EXAMPLE.com" })]);
    await withServer({ json }, async ({ provider, server }) => {
      for (const name of ["Bücher.example.com", "xn--bcher-kva.example.com."]) {
        expect((await provider.readRecords(zone, name)).fqdn).toBe("xn--bcher-kva.example.com");
      }
      expect(new Set(server.requests.map(({ query }) => query["name.exact"]))).toEqual(
        new Set(["xn--bcher-kva.example.com"]),
      );
    });
  });

  test.for<readonly [string, readonly object[], object]>([
    ["an automatic TTL as 1", [recordJSON("a", "203.0.113.1", { ttl: 1 })], { ttlSeconds: 1, isTTLAutomatic: false }],
    [
      "a proxied set without TTL",
      [recordJSON("a", "203.0.113.1", { ttl: 1, proxied: true })],
      { isTTLAutomatic: true },
    ],
    [
      "a set with one proxied record as proxied",
      [recordJSON("a", "203.0.113.1", { ttl: 1, proxied: true }), recordJSON("b", "203.0.113.2")],
      { isTTLAutomatic: true },
    ],
    [
      "records whose TTLs differ without TTL",
      [recordJSON("a", "203.0.113.1"), recordJSON("b", "203.0.113.2", { ttl: 120 })],
      {
        isTTLAutomatic: false,
        records: [
          { address: "203.0.113.1", ttlSeconds: 60 },
          { address: "203.0.113.2", ttlSeconds: 120 },
        ],
      },
    ],
  ])("shows %s", async ([, records, expected]) => {
    await withServer({ json: listJSON(records) }, async ({ read }) => {
      const { addresses, fqdn: _, hasDuplicates: __, ...state } = await read();
      expect(addresses).toHaveLength(records.length);
      expect(state).toEqual(expected);
    });
  });

  test("of a zone whose name is not known asks for the name as it is", async () => {
    await withServer({ json: listJSON([]) }, async ({ provider }) => {
      expect((await provider.readRecords({ id: zoneID }, fqdn)).addresses).toEqual([]);
    });
  });

  test("sends nothing for an id that is none, an empty one least of all", async () => {
    await withServer({ json: listJSON([]) }, async ({ provider, server }) => {
      for (const id of ["", ".", "..", "example.com", `${zoneID}/../x`]) {
        expect((await failureOf(provider.readRecords({ id }, fqdn))).failure).toBe("not-found");
      }
      expect(server.requests).toEqual([]);
    });
  });
});

describe("the pages of a list", () => {
  test("are read until total_pages", async () => {
    const replies = [
      { json: listJSON(page(100, 0), 205, 1) },
      { json: listJSON(page(100, 100), 205, 2) },
      { json: listJSON(page(5, 200), 205, 3) },
    ];
    await withServer(replies, async ({ read, server }) => {
      expect((await read()).addresses).toHaveLength(205);
      expect(server.requests.map(({ query }) => query["page"])).toEqual(["1", "2", "3"]);
    });
  });

  test("are read on when the server makes them shorter than asked for", async () => {
    const replies = [{ json: listJSON(page(50, 0), 70, 1, 50) }, { json: listJSON(page(20, 50), 70, 2, 50) }];
    await withServer(replies, async ({ read, server }) => {
      expect((await read()).addresses).toHaveLength(70);
      expect(server.requests).toHaveLength(2);
    });
  });

  test("are read until a short one when nothing says how many there are", async () => {
    const replies = [{ json: okJSON(page(100, 0)) }, { json: okJSON(page(3, 100)) }];
    await withServer(replies, async ({ read, server }) => {
      expect((await read()).addresses).toHaveLength(103);
      expect(server.requests).toHaveLength(2);
    });
  });

  test("that do not add up to the total are an error, never a part of the set", async () => {
    const first = { json: listJSON(page(100, 0), 150, 1) };
    await withServer([first, { json: listJSON([], 150, 2) }], async ({ read }) => {
      const error = await failureOf(read());
      expect(error).toMatchObject({ failure: "malformed", operation: "records", subject: fqdn });
      expect(error.message).toBe(
        "Cloudflare gave an unusable answer when asked to read the A records of www.example.com: the pages hold 100 records although result_info.total_count is 150 (200)",
      );
    });
  });

  test("that repeat themselves for ever are an error", async () => {
    await withServer({ json: listJSON(page(100, 0), 1_000_000_000, 1) }, async ({ read, server }) => {
      expect((await failureOf(read())).failure).toBe("malformed");
      expect(server.requests).toHaveLength(2);
    });
  });

  const uncounted = (records: readonly object[], pages: number): { json: object } => ({
    json: okJSON(records, { result_info: { total_pages: pages } }),
  });
  test.for([
    [
      "a total that sinks to what was seen",
      [{ json: listJSON(page(100, 0), 300, 1) }, { json: listJSON(page(100, 100), 200, 2) }],
      "result_info.total_count changed from 300 to 200 between pages",
    ],
    [
      "a total that grows to what is seen",
      [{ json: listJSON(page(100, 0), 150, 1) }, { json: listJSON(page(100, 100), 200, 2) }],
      "result_info.total_count changed from 150 to 200 between pages",
    ],
    [
      "a record that is shown twice beside as many as the total says",
      [{ json: listJSON(page(100, 0), 110, 1) }, { json: listJSON(page(11, 99), 110, 2) }],
      "is shown twice",
    ],
    [
      "fewer pages than the first one said, and no total",
      [uncounted(page(100, 0), 3), uncounted(page(100, 100), 2)],
      "the number of pages changed while they were read",
    ],
    [
      "an empty page before the last one, and no total",
      [uncounted(page(100, 0), 3), uncounted([], 3)],
      "page 2 shows nothing new although more pages follow",
    ],
  ] as const)("with %s are an error, never the set", async ([, replies, reason]) => {
    await withServer([...replies], async ({ read }) => {
      const error = await failureOf(read());
      expect(error.failure).toBe("malformed");
      expect(error.message).toContain(reason);
    });
  });

  test("an empty one while there are records is an error, never an empty set", async () => {
    await withServer({ json: listJSON([], 2) }, async ({ read }) => {
      expect((await failureOf(read())).message).toContain(
        "the pages hold 0 records although result_info.total_count is 2",
      );
    });
  });
});
