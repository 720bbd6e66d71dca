import { describe, expect, test } from "vitest";
import type { IPProvider } from "../../../src/ports/providers.ts";
import { accountJSON, addressJSON, dropletJSON } from "./api-objects.ts";
import { failureOf, token, withServer } from "./with-server.ts";

const ip = "203.0.113.1";
const get = (provider: IPProvider): Promise<unknown> => provider.getAddress(ip);
const list = (provider: IPProvider): Promise<unknown> => provider.listPage(1);
const machine = (provider: IPProvider): Promise<unknown> => provider.machineAddresses("42");
const limit = (provider: IPProvider): Promise<unknown> => provider.addressLimit();
const state = (provider: IPProvider): Promise<unknown> => provider.actionState({ ip, actionID: "7" });

function ofAddress(more: object): object {
  return { reserved_ip: addressJSON(ip, more) };
}

describe("malformed answers", () => {
  for (const [call, json, reason] of [
    [get, {}, "reserved_ip is missing, not an object"],
    [get, null, "the body is null, not an object"],
    [get, [], "the body is a list, not an object"],
    [get, { reserved_ip: null }, "reserved_ip is null, not an object"],
    [get, ofAddress({ ip: "203.0.113.256" }), 'reserved_ip.ip is "203.0.113.256", not an IPv4 address'],
    [get, ofAddress({ ip: "203.0.113.01" }), 'reserved_ip.ip is "203.0.113.01", not an IPv4 address'],
    [get, ofAddress({ ip: 1 }), "reserved_ip.ip is 1, not an IPv4 address"],
    [get, ofAddress({ ip: "203.0.113.2" }), "reserved_ip.ip is 203.0.113.2, not 203.0.113.1"],
    [get, ofAddress({ locked: undefined }), "reserved_ip.locked is missing, not true or false"],
    [get, ofAddress({ locked: "false" }), 'reserved_ip.locked is "false", not true or false'],
    [get, ofAddress({ region: {} }), "reserved_ip.region.slug is missing, not a slug"],
    [get, ofAddress({ region: "nyc3" }), 'reserved_ip.region is "nyc3", not an object'],
    [get, ofAddress({ region: { slug: "NYC 3" } }), 'reserved_ip.region.slug is "NYC 3", not a slug'],
    [get, ofAddress({ droplet: {} }), "reserved_ip.droplet.id is missing, not a numeric id"],
    [get, ofAddress({ droplet: { id: "42" } }), 'reserved_ip.droplet.id is "42", not a numeric id'],
    [get, ofAddress({ droplet: { id: 0 } }), "reserved_ip.droplet.id is 0, not a numeric id"],
    [get, ofAddress({ droplet: { id: 1.5 } }), "reserved_ip.droplet.id is 1.5, not a numeric id"],
    [get, ofAddress({ droplet: 42 }), "reserved_ip.droplet is 42, not an object"],
    [list, {}, "reserved_ips is missing, not a list"],
    [list, { reserved_ips: null, meta: { total: 0 } }, "reserved_ips is null, not a list"],
    [list, { reserved_ips: [] }, "meta is missing, not an object"],
    [list, { reserved_ips: [], meta: {} }, "meta.total is missing, not a whole number"],
    [list, { reserved_ips: [], meta: { total: -1 } }, "meta.total is -1, not a whole number"],
    [list, { reserved_ips: [], meta: { total: 3 } }, "reserved_ips is empty although meta.total is 3"],
    [
      list,
      { reserved_ips: [addressJSON(ip), {}], meta: { total: 2 } },
      "reserved_ips[1].ip is missing, not an IPv4 address",
    ],
    [machine, {}, "droplet is missing, not an object"],
    [machine, { droplet: dropletJSON(43, []) }, "droplet.id is 43, not 42"],
    [machine, { droplet: { id: 42 } }, "droplet.networks is missing, not an object"],
    [machine, { droplet: { id: 42, networks: {} } }, "droplet.networks.v4 is missing, not a list"],
    [machine, { droplet: dropletJSON(42, ["::1"]) }, 'droplet.networks.v4[0].ip_address is "::1", not an IPv4 address'],
    [limit, {}, "account is missing, not an object"],
    [
      limit,
      { account: accountJSON({ floating_ip_limit: "5" }) },
      'account.floating_ip_limit is "5", not a whole number',
    ],
    [state, { action: {} }, "action.status is missing, not text"],
  ] as const) {
    test(`say that ${reason}`, async () => {
      await withServer({ json, isOffSpec: true }, async ({ provider, server }) => {
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
    ["hello\n  world", "text/plain", 'text/plain instead of JSON: "hello world"'],
    ['{"reserved_ip":{}}', "text/plain", 'text/plain instead of JSON: "{\\"reserved_ip\\":{}}"'],
    ["{}", "", 'a body without content type instead of JSON: "{}"'],
    ["", "application/json", "the body is empty"],
    ['{"reserved_ips":[', "application/json", "the JSON is broken or cut off after 17 characters"],
  ] as const)("say what came instead of JSON: %s as %s", async ([text, type, reason]) => {
    const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
    await withServer({ text, headers }, async ({ provider }) => {
      const error = await failureOf(provider.listPage(1));
      expect(error.failure).toBe("malformed");
      expect(error.message).toBe(
        `DigitalOcean gave an unusable answer when asked to list the reserved IPs (page 1): ${reason} (200)`,
      );
    });
  });

  test("show at most 200 characters of a body, and never the token", async () => {
    const text = `<html>Bearer ${token} ${"x".repeat(5000)}`;
    await withServer({ text, headers: { "content-type": "text/html" } }, async ({ provider }) => {
      const { message } = await failureOf(provider.listPage(1));
      expect(message).toContain("<html>Bearer [redacted] xxx");
      expect(message.length).toBeLessThan(300);
    });
  });

  test("of a 404 that is a proxy's page do not make an address gone", async () => {
    const html = { status: 404, text: "<html>no such host</html>", headers: { "content-type": "text/html" } };
    await withServer([html, { status: 404 }, { status: 404, json: {}, isOffSpec: true }], async ({ provider }) => {
      const failures = [await failureOf(get(provider)), await failureOf(get(provider)), await failureOf(get(provider))];
      expect(failures.map((error) => error.failure)).toEqual(["malformed", "malformed", "malformed"]);
      expect(failures[0]?.message).toBe(
        'DigitalOcean gave an unusable answer when asked to read 203.0.113.1: HTML instead of JSON: "<html>no such host</html>" (404)',
      );
    });
  });

  test("of a creation leave open whether an address was bought", async () => {
    await withServer({ status: 202, json: {}, isOffSpec: true }, async ({ provider, server }) => {
      const error = await failureOf(provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] }));
      expect(error).toMatchObject({ failure: "malformed", status: 202, isAmbiguous: true, operation: "create" });
      expect(error.message).toBe(
        'DigitalOcean gave an unusable answer when asked to create a reserved IP in region "nyc3": reserved_ip is missing, not an object (202); it may have taken effect all the same',
      );
      expect(server.requests).toHaveLength(1);
    });
  });
});
