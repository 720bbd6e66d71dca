import { describe, expect, test } from "vitest";
import type { DNSProvider } from "../../../src/ports/providers.ts";
import { errorJSON, fqdn, listJSON, okJSON, recordJSON, zoneID, zoneJSON } from "./api-objects.ts";
import { failureOf, token, withServer, zone } from "./with-server.ts";

const read = (provider: DNSProvider): Promise<unknown> => provider.readRecords(zone, fqdn);
const byName = (provider: DNSProvider): Promise<unknown> => provider.findZone("example.com");
const byID = (provider: DNSProvider): Promise<unknown> => provider.findZone(zoneID);

function ofRecord(more: Readonly<Record<string, unknown>>): object {
  return listJSON([recordJSON("a", "203.0.113.1", more)]);
}

describe("malformed answers", () => {
  for (const [call, json, reason] of [
    [read, null, "the body is null, not an object"],
    [read, [], "the body is a list, not an object"],
    [read, {}, "success is missing, not true or false"],
    [read, { success: "true", result: [] }, 'success is "true", not true or false'],
    [read, { success: true }, "result is missing, not a list"],
    [read, { success: true, result: null }, "result is null, not a list"],
    [read, { success: true, result: {} }, "result is an object, not a list"],
    [read, okJSON([], { result_info: { total_count: -1 } }), "result_info.total_count is -1, not a whole number"],
    [read, okJSON([], { result_info: { total_pages: "1" } }), 'result_info.total_pages is "1", not a whole number'],
    [read, okJSON([], { result_info: [] }), "result_info is a list, not an object"],
    [read, listJSON([null]), "result[0] is null, not an object"],
    [read, ofRecord({ id: "" }), 'result[0].id is "", not an id'],
    [read, ofRecord({ id: "../x" }), 'result[0].id is "../x", not an id'],
    [read, ofRecord({ type: "AAAA" }), 'result[0].type is "AAAA", not A'],
    [read, ofRecord({ name: "a.example.com" }), 'result[0].name is "a.example.com", not www.example.com'],
    [read, ofRecord({ name: undefined }), "result[0].name is missing, not a DNS name"],
    [read, ofRecord({ content: "2001:db8::1" }), 'result[0].content is "2001:db8::1", not an IPv4 address'],
    [read, ofRecord({ content: "203.0.113.01" }), 'result[0].content is "203.0.113.01", not an IPv4 address'],
    [read, ofRecord({ ttl: "60" }), 'result[0].ttl is "60", not a whole number'],
    [read, ofRecord({ ttl: 0.5 }), "result[0].ttl is 0.5, not a whole number"],
    [read, ofRecord({ proxied: "yes" }), 'result[0].proxied is "yes", not true or false'],
    [read, ofRecord({ tags: {} }), "result[0].tags is an object, not a list"],
    [read, ofRecord({ comment: 1 }), "result[0].comment is 1, not text"],
    [read, listJSON([recordJSON("a", "203.0.113.1"), recordJSON("a", "203.0.113.2")]), "result has an id twice"],
    [byName, okJSON({}), "result is an object, not a list"],
    [byName, listJSON([], 1), "result has 0 of 1 zones of one name"],
    [byName, listJSON([zoneJSON({ name: "example.org" })]), 'result[0].name is "example.org", not example.com'],
    [byName, listJSON([zoneJSON({ id: "abc" })]), 'result[0].id is "abc", not a zone id'],
    [byID, okJSON(null), "result is null, not an object"],
    [byID, okJSON([zoneJSON()]), "result is a list, not an object"],
    [byID, okJSON(zoneJSON({ name: null })), "result.name is null, not a DNS name"],
  ] as const) {
    test(`say that ${reason}`, async () => {
      await withServer({ json }, async ({ provider, server }) => {
        const error = await failureOf(call(provider));
        expect(error).toMatchObject({ failure: "malformed", status: 200, isAmbiguous: false });
        expect(error.message).toContain(`: ${reason} (200)`);
        expect(server.requests).toHaveLength(1);
      });
    });
  }

  test.for([
    [
      "<!DOCTYPE html><html><body>Maintenance</body></html>",
      "text/html; charset=utf-8",
      'HTML instead of JSON: "<!DOCTYPE html><html><body>Maintenance</body></html>"',
    ],
    ["<html>", "", 'HTML instead of JSON: "<html>"'],
    [
      '{"success":true,"result":[]}',
      "text/plain",
      'text/plain instead of JSON: "{\\"success\\":true,\\"result\\":[]}"',
    ],
    ["", "application/json", "the body is empty"],
    ['{"success":true,"result":[', "application/json", "the JSON is broken or cut off after 26 characters"],
  ] as const)("with status 200 are never an empty list: %s as %s", async ([text, type, reason]) => {
    const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
    await withServer({ text, headers }, async ({ provider }) => {
      for (const call of [read, byName, byID]) {
        const error = await failureOf(call(provider));
        expect(error.failure).toBe("malformed");
        expect(error.message).toContain(`: ${reason} (200)`);
      }
    });
  });

  test("show at most 200 characters of a body, and never the token", async () => {
    const text = `<html>Bearer ${token} ${"x".repeat(5000)}`;
    await withServer({ text, headers: { "content-type": "text/html" } }, async (stage) => {
      const { message } = await failureOf(stage.read());
      expect(message).toContain("<html>Bearer [redacted] xxx");
      expect(message.length).toBeLessThan(350);
    });
  });
});

describe("a 200 that says success: false", () => {
  test("is a refusal with its code, never an empty list", async () => {
    const json = errorJSON(1004, "DNS Validation Error", [{ code: 9021, message: "Invalid TTL." }]);
    await withServer({ json }, async ({ provider }) => {
      for (const call of [read, byName, byID]) {
        const error = await failureOf(call(provider));
        expect(error).toMatchObject({ failure: "refused", status: 200 });
        expect(error.message).toContain("1004 DNS Validation Error (9021 Invalid TTL.) (200)");
      }
    });
  });

  test("is a bad token when its code is one", async () => {
    await withServer({ json: errorJSON(10_000, "Authentication error") }, async ({ provider }) => {
      expect((await failureOf(read(provider))).failure).toBe("unauthorized");
    });
  });

  test("is unusable when it has no error", async () => {
    await withServer({ json: { success: false, errors: [], messages: [], result: null } }, async ({ provider }) => {
      for (const call of [read, byName, byID]) {
        expect(await failureOf(call(provider))).toMatchObject({ failure: "malformed", isAmbiguous: false });
      }
    });
  });
});
