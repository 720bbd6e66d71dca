import { describe, expect, test } from "vitest";
import { createCloudflareReader } from "../../../src/adapters/cloudflare/cloudflare.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { errorJSON, listJSON, okJSON, zoneID, zoneJSON } from "./api-objects.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, token, withServer } from "./with-server.ts";

const otherID = "0123456789abcdef0123456789abcdef";

describe("a zone named by its name", () => {
  test("is looked up by an exact filter, and its id is the handle", async () => {
    await withServer({ json: listJSON([zoneJSON()]) }, async ({ provider, server }) => {
      expect(await provider.findZone("Example.com.")).toEqual({ id: zoneID, name: "example.com" });
      expect(server.requests).toHaveLength(1);
      expect(server.requests[0]).toMatchObject({ method: "GET", path: "/client/v4/zones" });
      expect(server.requests[0]?.query).toEqual({ name: "example.com", per_page: "50" });
    });
  });

  test("is asked for in Punycode when it is written in other letters", async () => {
    const json = listJSON([zoneJSON({ name: "xn--bcher-kva.example" })]);
    await withServer({ json }, async ({ provider, server }) => {
      expect(await provider.findZone("Bücher.example")).toEqual({ id: zoneID, name: "xn--bcher-kva.example" });
      expect(server.requests[0]?.query["name"]).toBe("xn--bcher-kva.example");
    });
  });

  test("is undefined when the list is empty", async () => {
    await withServer({ json: listJSON([]) }, async ({ provider }) => {
      expect(await provider.findZone("example.com")).toBeUndefined();
    });
  });

  test("is the active one of several", async () => {
    const zones = [zoneJSON({ id: otherID, status: "moved" }), zoneJSON()];
    await withServer({ json: listJSON(zones) }, async ({ provider }) => {
      expect((await provider.findZone("example.com"))?.id).toBe(zoneID);
    });
  });

  test("is refused when several are active", async () => {
    await withServer({ json: listJSON([zoneJSON({ id: otherID }), zoneJSON()]) }, async ({ provider }) => {
      const error = await failureOf(provider.findZone("example.com"));
      expect(error).toMatchObject({ failure: "refused", operation: "zone", subject: "example.com" });
      expect(error.message).toBe(
        "Cloudflare refused to find the zone example.com: several zones have that name; name the zone by its id",
      );
    });
  });

  test("is never searched for with an operator of the API's", async () => {
    await withServer({ json: listJSON([]) }, async ({ provider, server }) => {
      for (const name of ["contains:example", "example.com,example.org", "*.", "-", ""]) {
        expect((await failureOf(provider.findZone(name))).failure).toBe("refused");
      }
      expect(server.requests).toEqual([]);
    });
  });

  test("says which permission is missing, and the way without it", async () => {
    const reply = { status: 403, json: errorJSON(9109, "Unauthorized to access requested resource") };
    await withServer(reply, async ({ provider }) => {
      const error = await failureOf(provider.findZone("example.com"));
      expect(error.failure).toBe("forbidden");
      expect(error.message).toBe(
        "Cloudflare does not allow this token to find the zone example.com: 9109 Unauthorized to access requested resource (403). Give the token the permission Zone / Zone / Read (or name the zone by its id) for that zone.",
      );
    });
  });
});

describe("a zone named by its id", () => {
  test("is read, whatever the case of the id", async () => {
    await withServer({ json: okJSON(zoneJSON({ name: "Example.COM" })) }, async ({ provider, server }) => {
      expect(await provider.findZone(zoneID.toUpperCase())).toEqual({ id: zoneID, name: "example.com" });
      expect(server.requests.map(({ path }) => path)).toEqual([`/client/v4/zones/${zoneID}`]);
    });
  });

  test.for<readonly [string, Reply]>([
    ["9109", { status: 403, json: errorJSON(9109, "Unauthorized to access requested resource") }],
    ["10000", { status: 403, json: errorJSON(10_000, "Authentication error") }],
  ])("is taken without its name when the token may not read it (%s)", async ([, reply]) => {
    await withServer(reply, async ({ provider }) => {
      expect(await provider.findZone(zoneID)).toEqual({ id: zoneID });
      expect(provider.calls()).toEqual([{ operation: "zone", outcome: "success", count: 1 }]);
    });
  });

  test.for<readonly [string, Reply]>([
    ["404 and 7003", { status: 404, json: errorJSON(7003, "Could not route to /zones/x") }],
    ["400 and 7003", { status: 400, json: errorJSON(7003, "Could not route to /zones/x") }],
    ["404 and another code", { status: 404, json: errorJSON(1001, "Invalid zone identifier") }],
  ])("is undefined when there is none: %s", async ([, reply]) => {
    await withServer(reply, async ({ provider }) => {
      expect(await provider.findZone(zoneID)).toBeUndefined();
    });
  });

  test.for<readonly [string, Reply, string]>([
    ["a bad token", { status: 403, json: errorJSON(9109, "Invalid access token") }, "unauthorized"],
    ["a 401", { status: 401, json: errorJSON(10_000, "Authentication error") }, "unauthorized"],
    ["a firewall's page", { status: 403, text: "<html>", headers: { "content-type": "text/html" } }, "forbidden"],
    ["a proxy's 404", { status: 404, text: "<html>", headers: { "content-type": "text/html" } }, "malformed"],
  ])("is neither missing nor nameless because of %s", async ([, reply, failure]) => {
    await withServer(reply, async ({ provider }) => {
      expect((await failureOf(provider.findZone(zoneID))).failure).toBe(failure);
    });
  });

  test("is an unusable answer when it is another zone's", async () => {
    await withServer({ json: okJSON(zoneJSON({ id: otherID })) }, async ({ provider }) => {
      const error = await failureOf(provider.findZone(zoneID));
      expect(error.failure).toBe("malformed");
      expect(error.message).toContain(`result.id is "${otherID}", not ${zoneID} (200)`);
    });
  });
});

test("the reader has no method that writes, at run time either", () => {
  const reader = createCloudflareReader({ token, userAgent: "flipop/0", clock: SYSTEM_CLOCK });
  expect(Object.keys(reader).sort()).toEqual([
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
    "tokenEndMs",
    "ttlRules",
    "zoneNames",
  ]);
  expect([reader.name, reader.isBatched]).toEqual(["cloudflare", true]);
  expect(reader.ttlRules).toEqual({ minimumSeconds: 60, maximumSeconds: 86_400, automaticSeconds: 1 });
});

describe("the zones that a token sees", () => {
  test("are told by one page of their names", async () => {
    const json = listJSON([zoneJSON(), zoneJSON({ id: otherID, name: "Example.net" })]);
    await withServer({ json }, async ({ provider, server }) => {
      expect(await provider.zoneNames?.()).toEqual(["example.com", "example.net"]);
      expect(server.requests.map(({ path, query }) => [path, query])).toEqual([
        ["/client/v4/zones", { per_page: "50" }],
      ]);
    });
  });

  test("are no list where the answer is none", async () => {
    await withServer({ json: okJSON({ zones: [] }) }, async ({ provider }) => {
      expect(await failureOf(provider.zoneNames?.() ?? Promise.resolve())).toMatchObject({ failure: "malformed" });
    });
  });
});
