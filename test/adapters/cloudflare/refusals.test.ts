import { describe, expect, test } from "vitest";
import { errorJSON, fqdn, listJSON, okJSON, zoneID } from "./api-objects.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, token, withServer, zone } from "./with-server.ts";

const nothing: Reply = { json: listJSON([]) };
const doing = "change the A records of www.example.com";

describe("refusals", () => {
  test.for<readonly [number, object, string, string]>([
    [
      401,
      errorJSON(10_000, "Authentication error"),
      "unauthorized",
      `Cloudflare did not accept the token when asked to ${doing}: 10000 Authentication error (401). Check the token and its expiry.`,
    ],
    [
      400,
      errorJSON(6003, "Invalid request headers", [{ code: 6111, message: "Invalid format for Authorization header" }]),
      "unauthorized",
      `Cloudflare did not accept the token when asked to ${doing}: 6003 Invalid request headers (6111 Invalid format for Authorization header) (400). Check the token and its expiry.`,
    ],
    [
      403,
      errorJSON(9109, "Invalid access token"),
      "unauthorized",
      `Cloudflare did not accept the token when asked to ${doing}: 9109 Invalid access token (403). Check the token and its expiry.`,
    ],
    [
      403,
      errorJSON(10_000, "Authentication error"),
      "forbidden",
      `Cloudflare does not allow this token to ${doing}: 10000 Authentication error (403). Give the token the permission Zone / DNS / Edit for that zone.`,
    ],
    [
      404,
      errorJSON(7003, "Could not route to /zones/x, perhaps your object identifier is invalid?"),
      "not-found",
      `Cloudflare refused to ${doing}: 7003 Could not route to /zones/x, perhaps your object identifier is invalid? (404)`,
    ],
    [
      400,
      errorJSON(1004, "DNS Validation Error", [
        { code: 9021, message: "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic." },
      ]),
      "refused",
      `Cloudflare refused to ${doing}: 1004 DNS Validation Error (9021 Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.) (400)`,
    ],
    [
      400,
      errorJSON(81_053, "An A, AAAA, or CNAME record with that host already exists."),
      "refused",
      `Cloudflare refused to ${doing}: 81053 An A, AAAA, or CNAME record with that host already exists. (400)`,
    ],
    [
      400,
      { success: false, errors: [{ code: 1 }, { message: "two\nlines" }, "three", null] },
      "refused",
      `Cloudflare refused to ${doing}: 1; two lines (400)`,
    ],
    [400, {}, "refused", `Cloudflare refused to ${doing}: no error message (400)`],
  ])("with status %i and %j are %s", async ([status, json, failure, text]) => {
    await withServer([nothing, { status, json }], async ({ write, server }) => {
      const error = await failureOf(write(["203.0.113.1"]));
      expect(error).toMatchObject({ failure, status, isAmbiguous: false, operation: "write", subject: fqdn });
      expect(error).toMatchObject({ provider: "cloudflare", message: text, notBeforeMs: undefined });
      expect(server.requests).toHaveLength(2);
    });
  });

  test.for([500, 502, 520, 503, 408])("with status %i leave open whether a write took effect", async (status) => {
    const html = { status, text: "<html>Web server is down</html>", headers: { "content-type": "text/html" } };
    await withServer([nothing, html], async ({ write, server }) => {
      const error = await failureOf(write(["203.0.113.1"]));
      expect(error).toMatchObject({ failure: "unavailable", status, isAmbiguous: true });
      expect(error.message).toBe(
        `Cloudflare failed to ${doing}: HTML instead of JSON: "<html>Web server is down</html>" (${status}); it may have taken effect all the same`,
      );
      expect(server.requests).toHaveLength(2);
    });
  });

  test("know the request id, and show no token that an answer repeats", async () => {
    const reply = { status: 400, json: errorJSON(1, `no ${token}`), headers: { "cf-ray": "8f2c0a-AMS" } };
    await withServer(reply, async ({ read }) => {
      const error = await failureOf(read());
      expect(error.requestID).toBe("8f2c0a-AMS");
      expect(error.message).toBe("Cloudflare refused to read the A records of www.example.com: 1 no [redacted] (400)");
    });
  });

  test("show no part of a token that stands where the text is cut off", async () => {
    const reply = { status: 400, json: errorJSON(1, `${"x".repeat(285)} ${token}`) };
    await withServer(reply, async ({ read }) => {
      const { message } = await failureOf(read());
      expect(message).toContain("x [redacted]");
      expect(message).not.toContain(token.slice(0, 4));
    });
  });

  test("show at most 300 characters of a chain, however deep it is", async () => {
    const deep = (level: number): object => ({
      code: level,
      message: "x".repeat(50),
      ...(level === 0 ? {} : { error_chain: [deep(level - 1)] }),
    });
    await withServer({ status: 400, json: { success: false, errors: [deep(200)] } }, async ({ read }) => {
      expect((await failureOf(read())).message.length).toBeLessThan(400);
    });
  });
});

describe("what could only be refused is not sent", () => {
  test.for([
    ["www.example.org", ["203.0.113.1"], "it is not in the zone example.com"],
    ["wwwexample.com", ["203.0.113.1"], "it is not in the zone example.com"],
    ["", ["203.0.113.1"], '"" is not a DNS name'],
    ["a..example.com", ["203.0.113.1"], '"a..example.com" is not a DNS name'],
    [fqdn, ["2001:db8::1"], '"2001:db8::1" is not an IPv4 address'],
  ] as const)("%j with %j: %s", async ([name, addresses, reason]) => {
    await withServer({ json: okJSON([]) }, async ({ provider, server }) => {
      const error = await failureOf(
        provider.writeRecords(zone, name, { before: [], after: { addresses, ttlSeconds: 60 } }),
      );
      expect(error).toMatchObject({ failure: "refused", status: 0, isAmbiguous: false });
      expect(error.message).toBe(`Cloudflare refused to change the A records of ${name}: ${reason}`);
      expect(server.requests).toEqual([]);
    });
  });

  test("an empty zone id is a zone that is not there", async () => {
    await withServer({ json: okJSON([]) }, async ({ provider, server }) => {
      const error = await failureOf(
        provider.writeRecords({ id: "" }, fqdn, { before: [], after: { addresses: ["203.0.113.1"], ttlSeconds: 60 } }),
      );
      expect(error).toMatchObject({ failure: "not-found", status: 0 });
      expect(server.requests).toEqual([]);
      expect(zone.id).toBe(zoneID);
    });
  });
});
