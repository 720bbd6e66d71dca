import { describe, expect, test } from "vitest";
import { openDigitalOceanReaders } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { accountJSON, actionJSON, addressJSON, dropletJSON } from "./api-objects.ts";
import { token, withServer } from "./with-server.ts";

const ip = "203.0.113.1";

function requestLine({ method, path, body }: { method: string; path: string; body: unknown }): unknown[] {
  return body === undefined ? [method, path] : [method, path, body];
}

describe("requests", () => {
  test("a list asks for 200 addresses of the given page", async () => {
    const json = { reserved_ips: [], links: {}, meta: { total: 401 } };
    await withServer({ json }, async ({ provider, server }) => {
      await provider.listPage(3);
      expect(server.requests.map(requestLine)).toEqual([["GET", "/v2/reserved_ips?page=3&per_page=200"]]);
    });
  });

  test("a read names the address", async () => {
    await withServer({ json: { reserved_ip: addressJSON(ip) } }, async ({ provider, server }) => {
      await provider.getAddress(ip);
      expect(server.requests.map(requestLine)).toEqual([["GET", `/v2/reserved_ips/${ip}`]]);
    });
  });

  test("the addresses of a machine are read from the droplet", async () => {
    await withServer({ json: { droplet: dropletJSON(42, ["10.0.0.2"]) } }, async ({ provider, server }) => {
      await provider.machineAddresses("42");
      expect(server.requests.map(requestLine)).toEqual([["GET", "/v2/droplets/42"]]);
    });
  });

  test("the limit is read from the account", async () => {
    await withServer({ json: { account: accountJSON() } }, async ({ provider, server }) => {
      await provider.addressLimit();
      expect(server.requests.map(requestLine)).toEqual([["GET", "/v2/account"]]);
    });
  });

  test("an assignment sends the droplet id as a number", async () => {
    await withServer({ status: 201, json: { action: actionJSON(7) } }, async ({ provider, server }) => {
      expect(await provider.assign(ip, "9007199254740991")).toEqual({ ip, actionID: "7" });
      const body = { type: "assign", droplet_id: 9_007_199_254_740_991 };
      expect(server.requests.map(requestLine)).toEqual([["POST", `/v2/reserved_ips/${ip}/actions`, body]]);
    });
  });

  test("an assignment's body has the SDK's duplicate key, which a server must accept", async () => {
    await withServer({ status: 201, json: { action: actionJSON(7) } }, async ({ provider, server }) => {
      await provider.assign(ip, "42");
      expect(server.requests[0]?.text).toBe('{"type":"assign","droplet_id":42,"type":"assign"}');
    });
  });

  test("an unassignment sends its type alone", async () => {
    await withServer({ status: 201, json: { action: actionJSON(7) } }, async ({ provider, server }) => {
      expect(await provider.unassign(ip)).toEqual({ ip, actionID: "7" });
      expect(server.requests.map(requestLine)).toEqual([
        ["POST", `/v2/reserved_ips/${ip}/actions`, { type: "unassign" }],
      ]);
    });
  });

  test("an action is read under its address", async () => {
    await withServer({ json: { action: actionJSON(7) } }, async ({ provider, server }) => {
      await provider.actionState({ ip, actionID: "7" });
      expect(server.requests.map(requestLine)).toEqual([["GET", `/v2/reserved_ips/${ip}/actions/7`]]);
    });
  });

  test("a creation sends either the droplet or the region", async () => {
    const json = { reserved_ip: addressJSON(ip), links: {} };
    await withServer({ status: 202, json }, async ({ provider, server }) => {
      await provider.create({ machineID: "42" }, { uid: "uid", knownIPs: [] });
      await provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] });
      expect(server.requests.map(requestLine)).toEqual([
        ["POST", "/v2/reserved_ips", { droplet_id: 42 }],
        ["POST", "/v2/reserved_ips", { region: "nyc3" }],
      ]);
    });
  });

  test("a deletion has no body", async () => {
    await withServer({ status: 204 }, async ({ provider, server }) => {
      await provider.delete(ip);
      expect(server.requests.map(requestLine)).toEqual([["DELETE", `/v2/reserved_ips/${ip}`]]);
    });
  });

  test("every request carries the token and our user agent, and only ours", async () => {
    await withServer({ status: 201, json: { action: actionJSON(7) } }, async ({ provider, server }) => {
      await provider.assign(ip, "42");
      expect(server.requests[0]?.headers).toMatchObject({
        authorization: `Bearer ${token}`,
        "user-agent": "flipop/0 (test)",
        accept: "application/json",
        "content-type": "application/json",
      });
    });
  });

  test("the token is asked for again for every request, and loses its line end", async () => {
    const tokens = ["first\n", "second\n"];
    await withServer(
      { json: { reserved_ip: addressJSON(ip) } },
      async ({ provider, server }) => {
        await provider.getAddress(ip);
        await provider.getAddress(ip);
        const sent = server.requests.map((request) => request.headers.authorization);
        expect(sent).toEqual(["Bearer first", "Bearer second"]);
      },
      { token: async () => tokens.shift() ?? "" },
    );
  });

  test("the reader reads, and has no method that writes", async () => {
    await withServer({ json: { reserved_ip: addressJSON(ip) } }, async ({ server }) => {
      const reader = openDigitalOceanReaders({
        token,
        baseURL: `${server.url}/`,
        userAgent: "flipop/0",
        clock: SYSTEM_CLOCK,
      }).addresses;
      expect((await reader.getAddress(ip))?.ip).toBe(ip);
      expect(server.requests.map(requestLine)).toEqual([["GET", `/v2/reserved_ips/${ip}`]]);
      const names = [
        "addressLimit",
        "calls",
        "durations",
        "getAddress",
        "listPage",
        "machineAddresses",
        "name",
        "pageSize",
      ];
      expect(Object.keys(reader).sort()).toEqual([...names, "rateLimit"]);
    });
  });
});
