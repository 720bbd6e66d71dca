import { describe, expect, test } from "vitest";
import { batchJSON, errorJSON, fqdn, listJSON, okJSON, recordJSON, recordsPath, zoneID } from "./api-objects.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, token, withServer } from "./with-server.ts";

const [ip1, ip2, ip3] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;
const one: Reply = { json: listJSON([recordJSON("a", ip1)]) };
const none: Reply = { json: listJSON([]) };
const identical: Reply = { status: 400, json: errorJSON(81_058, "An identical record already exists.") };

describe("a write", () => {
  test("is one list and one batch with only what differs", async () => {
    const batch = batchJSON({
      patches: [recordJSON("a", ip2, { ttl: 300 })],
      posts: [recordJSON("b", ip3, { ttl: 300 })],
    });
    await withServer([one, { json: batch }], async ({ provider, write, server }) => {
      expect(await write([ip2, ip3], { ttlSeconds: 300, before: [ip1] })).toEqual({
        kind: "written",
        records: { fqdn, addresses: [ip2, ip3], ttlSeconds: 300, isTTLAutomatic: false, hasDuplicates: false },
      });
      expect(server.requests.map(({ method, path }) => [method, path])).toEqual([
        ["GET", recordsPath],
        ["POST", `${recordsPath}/batch`],
      ]);
      expect(server.requests[1]?.body).toEqual({
        patches: [{ id: "a", content: ip2, ttl: 300 }],
        posts: [{ type: "A", name: fqdn, content: ip3, ttl: 300, proxied: false }],
      });
      expect(server.requests[1]?.headers).toMatchObject({
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "user-agent": "flipop/0 (test)",
      });
      expect(provider.calls()).toEqual([
        { operation: "records", outcome: "success", count: 1 },
        { operation: "write", outcome: "success", count: 1 },
      ]);
    });
  });

  test("of what is there already sends no batch", async () => {
    await withServer(one, async ({ write, server }) => {
      expect(await write([ip1])).toMatchObject({ kind: "written", records: { addresses: [ip1] } });
      expect(server.requests.map(({ method }) => method)).toEqual(["GET"]);
    });
  });

  test("planned on other records sends no batch and is stale", async () => {
    await withServer(one, async ({ write, server }) => {
      const records = { fqdn, addresses: [ip1], ttlSeconds: 60, isTTLAutomatic: false, hasDuplicates: false };
      expect(await write([ip2], { before: [ip3] })).toEqual({ kind: "stale", records });
      expect(server.requests.map(({ method }) => method)).toEqual(["GET"]);
    });
  });

  test("names neither proxied, comment nor tags of a record that it changes", async () => {
    const proxied = { proxied: true, ttl: 1, comment: "by hand", tags: ["team:web"] };
    const list = { json: listJSON([recordJSON("a", ip1, proxied)]) };
    const batch = { json: batchJSON({ patches: [recordJSON("a", ip2, proxied)] }) };
    await withServer([list, batch], async ({ write, server }) => {
      const { records } = await write([ip2], { ttlSeconds: 300, before: [ip1] });
      expect(records).toEqual({ fqdn, addresses: [ip2], isTTLAutomatic: true, hasDuplicates: false });
      expect(server.requests[1]?.body).toEqual({ patches: [{ id: "a", content: ip2 }] });
    });
  });

  test("that leaves no record returns the empty set", async () => {
    await withServer([one, { json: batchJSON({ deletes: [recordJSON("a", ip1)] }) }], async ({ write, server }) => {
      const { records } = await write([], { before: [ip1] });
      expect(records).toEqual({ fqdn, addresses: [], isTTLAutomatic: false, hasDuplicates: false });
      expect(server.requests[1]?.body).toEqual({ deletes: [{ id: "a" }] });
    });
  });

  test("returns what the answer shows, even if that is not what was asked for", async () => {
    const batch = batchJSON({ posts: [recordJSON("b", ip1, { ttl: 120 })] });
    await withServer([none, { json: batch }], async ({ write }) => {
      expect((await write([ip1])).records).toMatchObject({ addresses: [ip1], ttlSeconds: 120 });
    });
  });

  test.for<readonly [string, object]>([
    ["no lists", okJSON(null)],
    ["no posts", okJSON({ patches: [] })],
    ["fewer posts", batchJSON({ posts: [] })],
    ["records that cannot be read", batchJSON({ posts: [recordJSON("b", "2001:db8::1")] })],
    ["a list in their place", okJSON([])],
  ])("is read again when the answer has %s", async ([, batch]) => {
    const after = { json: listJSON([recordJSON("b", ip1)]) };
    await withServer([none, { json: batch }, after], async ({ write, server }) => {
      expect(await write([ip1])).toMatchObject({ kind: "written", records: { addresses: [ip1] } });
      expect(server.requests.map(({ method }) => method)).toEqual(["GET", "POST", "GET"]);
    });
  });
});

describe("a batch that finds other records than were read", () => {
  test.for([
    [81_057, 400, "The record already exists."],
    [81_058, 400, "An identical record already exists."],
    [81_044, 404, "Record does not exist."],
    [81_044, 400, "Record does not exist."],
  ] as const)("is settled by reading again after %i (%i)", async ([code, status, message]) => {
    const replies = [one, { status, json: errorJSON(code, message) }, { json: listJSON([recordJSON("b", ip2)]) }];
    await withServer(replies, async ({ write, server }) => {
      expect(await write([ip2], { before: [ip1] })).toMatchObject({ kind: "written", records: { addresses: [ip2] } });
      expect(server.requests.map(({ method }) => method)).toEqual(["GET", "POST", "GET"]);
    });
  });

  test("is settled when the code stands in the chain", async () => {
    const json = errorJSON(1004, "DNS Validation Error", [{ code: 81_058, message: "An identical record exists." }]);
    await withServer([none, { status: 400, json }, one], async ({ write }) => {
      expect(await write([ip1])).toMatchObject({ kind: "written", records: { addresses: [ip1] } });
    });
  });

  test("is stale when the records are neither what they were nor what they should be", async () => {
    await withServer([none, identical, one], async ({ write, server }) => {
      expect(await write([ip1, ip2])).toMatchObject({ kind: "stale", records: { addresses: [ip1] } });
      expect(server.requests.map(({ method }) => method)).toEqual(["GET", "POST", "GET"]);
    });
  });

  test("is tried once more with the records made anew when their addresses are what they were", async () => {
    const gone: Reply = { status: 404, json: errorJSON(81_044, "Record does not exist.") };
    const anew = { json: listJSON([recordJSON("b", ip1)]) };
    const batch = { json: batchJSON({ patches: [recordJSON("b", ip2)] }) };
    await withServer([one, gone, anew, batch], async ({ write, server }) => {
      expect(await write([ip2], { before: [ip1] })).toMatchObject({ kind: "written", records: { addresses: [ip2] } });
      expect(server.requests[3]?.body).toEqual({ patches: [{ id: "b", content: ip2 }] });
    });
  });

  test.for([
    ["stale when somebody else has changed them by then", [ip3], "stale"],
    ["written when somebody else has made them what they should be by then", [ip1], "written"],
  ] as const)("is %s, after a second try that ends the same way", async ([, addresses, kind]) => {
    const last = { json: listJSON(addresses.map((ip) => recordJSON("c", ip))) };
    await withServer([none, identical, none, identical, last], async ({ write, server }) => {
      expect(await write([ip1])).toMatchObject({ kind, records: { addresses } });
      expect(server.requests).toHaveLength(5);
    });
  });

  test("is a refusal when the second try ends the same way and nothing has changed", async () => {
    await withServer([none, identical, none, identical, none], async ({ write, server }) => {
      const error = await failureOf(write([ip1]));
      expect(error).toMatchObject({ failure: "refused", operation: "write", isAmbiguous: false });
      expect(error.message).toBe(
        "Cloudflare refused to change the A records of www.example.com: 81058 An identical record already exists. (400)",
      );
      expect(server.requests).toHaveLength(5);
    });
  });
});

describe("a batch whose answer cannot be understood", () => {
  test.for<readonly [string, Reply]>([
    ["HTML", { text: "<html>", headers: { "content-type": "text/html" } }],
    ["an empty body", {}],
    ["no success", { json: { result: {} } }],
    ["success: false without an error", { json: { success: false, errors: [] } }],
  ])("may have taken effect and is not repeated: %s", async ([, reply]) => {
    await withServer([none, reply], async ({ write, server }) => {
      const error = await failureOf(write([ip1]));
      expect(error).toMatchObject({ failure: "malformed", status: 200, isAmbiguous: true, operation: "write" });
      expect(error.message).toContain("; it may have taken effect all the same");
      expect(server.requests).toHaveLength(2);
    });
  });

  test("had no effect when it says success: false and why", async () => {
    await withServer([none, { json: errorJSON(1004, "DNS Validation Error") }], async ({ write }) => {
      expect(await failureOf(write([ip1]))).toMatchObject({ failure: "refused", status: 200, isAmbiguous: false });
    });
  });
});

describe("a name outside a zone whose name is not known", () => {
  const elsewhere = `${fqdn}.example.org`;
  const change = { before: [], after: { addresses: [ip1], ttlSeconds: 60 } };

  test("is refused, and what Cloudflare made below the zone is taken back", async () => {
    const made = batchJSON({ posts: [recordJSON("b", ip1, { name: elsewhere })] });
    const removed = batchJSON({ deletes: [recordJSON("b", ip1, { name: elsewhere })] });
    await withServer([none, { json: made }, { json: removed }], async ({ provider, server }) => {
      const error = await failureOf(provider.writeRecords({ id: zoneID }, fqdn, change));
      expect(error).toMatchObject({ failure: "refused", isAmbiguous: false, subject: fqdn });
      expect(error.message).toBe(
        "Cloudflare refused to change the A records of www.example.com: it is not in that zone (Cloudflare made it www.example.com.example.org, which was removed again)",
      );
      expect(server.requests[2]).toMatchObject({ method: "POST", body: { deletes: [{ id: "b" }] } });
    });
  });

  test("is refused, and what Cloudflare made stands where nothing may be written any more, and is named", async () => {
    const made = batchJSON({ posts: [recordJSON("b", ip1, { name: elsewhere })] });
    let asked = 0;
    const mayWrite = (): boolean => {
      asked += 1;
      return asked === 1;
    };
    await withServer(
      [none, { json: made }],
      async ({ provider, server }) => {
        const error = await failureOf(provider.writeRecords({ id: zoneID }, fqdn, change));
        expect(error.message).toBe(
          "Cloudflare refused to change the A records of www.example.com: it is not in that zone (Cloudflare made it www.example.com.example.org, which stands there, because this run may change nothing more: remove it)",
        );
        expect(server.requests).toHaveLength(2);
      },
      { mayWrite },
    );
  });

  test("leaves a record there that somebody else made", async () => {
    await withServer([none, identical, none, identical, none], async ({ provider, server }) => {
      const error = await failureOf(provider.writeRecords({ id: zoneID }, fqdn, change));
      expect(error.failure).toBe("refused");
      expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain("deletes");
    });
  });
});
