import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openDigitalOceanReaders } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import type { IPProvider } from "../../../src/ports/providers.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { actionJSON, dropletJSON, errorJSON } from "./api-objects.ts";
import type { Received, Reply } from "./scripted-server.ts";
import { failureOf, token, withServer } from "./with-server.ts";

const ip = "2001:db8:d0::1";
const inPath = "2001%3Adb8%3Ad0%3A%3A1";
const buyer = { uid: "uid", knownIPs: [] };

function bareJSON(more: object = {}): object {
  return { ip, region_slug: "nyc3", reserved_at: "2026-01-01T00:00:00Z", ...more };
}

function addressJSON(more: object = {}): object {
  return { reserved_ipv6: bareJSON(more) };
}

function dropletWith(addresses: readonly string[]): object {
  const droplet = dropletJSON(42, ["10.0.0.2", "203.0.113.9"]) as { networks: object };
  const v6 = addresses.map((address) => ({ ip_address: address, netmask: 64, gateway: "2001:db8::1", type: "public" }));
  return { droplet: { ...droplet, networks: { ...droplet.networks, v6 } } };
}

function lineOf({ method, path, body }: Received): unknown[] {
  return body === undefined ? [method, path] : [method, path, body];
}

const notFound: Reply = { status: 404, json: errorJSON("not_found", "The resource could not be found.") };

describe("requests about reserved IPv6 addresses", () => {
  test.for<readonly [string, Reply, (provider: IPProvider) => Promise<unknown>, unknown[]]>([
    [
      "a list asks for 200 addresses of the given page",
      { json: { reserved_ipv6s: [], links: {}, meta: { total: 401 } } },
      (provider) => provider.listPage(3),
      ["GET", "/v2/reserved_ipv6?page=3&per_page=200"],
    ],
    [
      "a read names the address, its colons escaped",
      { json: addressJSON() },
      (provider) => provider.getAddress(ip),
      ["GET", `/v2/reserved_ipv6/${inPath}`],
    ],
    [
      "the addresses of a machine are read from the droplet",
      { json: dropletWith([]) },
      (provider) => provider.machineAddresses("42"),
      ["GET", "/v2/droplets/42"],
    ],
    [
      "an assignment sends the droplet id as a number",
      { status: 201, json: { action: actionJSON(7) } },
      (provider) => provider.assign(ip, "9007199254740991"),
      ["POST", `/v2/reserved_ipv6/${inPath}/actions`, { type: "assign", droplet_id: 9_007_199_254_740_991 }],
    ],
    [
      "an unassignment sends its type alone",
      { status: 201, json: { action: actionJSON(7) } },
      (provider) => provider.unassign(ip),
      ["POST", `/v2/reserved_ipv6/${inPath}/actions`, { type: "unassign" }],
    ],
    [
      "an action is read by its id, since there are none below an address",
      { json: { action: actionJSON(7) } },
      (provider) => provider.actionState({ ip, actionID: "7" }),
      ["GET", "/v2/actions/7"],
    ],
    [
      "a purchase names the region alone",
      { status: 201, json: addressJSON() },
      (provider) => provider.create({ region: "nyc3" }, buyer),
      ["POST", "/v2/reserved_ipv6", { region_slug: "nyc3" }],
    ],
    [
      "a deletion has no body",
      { status: 204 },
      (provider) => provider.delete(ip),
      ["DELETE", `/v2/reserved_ipv6/${inPath}`],
    ],
  ])("%s", async ([, reply, call, line]) => {
    await withServer(reply, async ({ ipv6: provider, server }) => {
      await call(provider);
      expect(server.requests.map(lineOf)).toEqual([line]);
    });
  });

  test("the limit is asked for in no request, since none is told", async () => {
    await withServer([], async ({ ipv6: provider, server }) => {
      expect(await provider.addressLimit()).toBeUndefined();
      expect(server.requests).toEqual([]);
    });
  });

  test("both families count on one meter, and a 429 of one stops the other", async () => {
    const headers = { "retry-after": "20" };
    const limited = { status: 429, json: errorJSON("too_many_requests", "API rate limit exceeded."), headers };
    await withServer(limited, async ({ ipv6, provider, server }) => {
      expect((await failureOf(ipv6.listPage(1))).failure).toBe("rate-limited");
      expect((await failureOf(provider.listPage(1))).failure).toBe("rate-limited");
      expect(server.requests).toHaveLength(1);
      expect(provider.calls()).toEqual(ipv6.calls());
    });
  });

  test("the reader has no method that writes", async () => {
    await withServer({ json: addressJSON() }, async ({ server }) => {
      const options = { token, baseURL: server.url, userAgent: "flipop/0", clock: SYSTEM_CLOCK };
      const { addressesIPv6: reader } = openDigitalOceanReaders(options);
      expect((await reader.getAddress(ip))?.ip).toBe(ip);
      for (const name of ["assign", "unassign", "create", "delete", "actionState"])
        expect(reader).not.toHaveProperty(name);
    });
  });

  test.for<readonly [string, (provider: IPProvider) => Promise<unknown>, string]>([
    ["get", (provider) => provider.getAddress("203.0.113.1"), '"203.0.113.1" is not an IPv6 address'],
    ["get", (provider) => provider.getAddress("2001:DB8:D0::1"), '"2001:DB8:D0::1" is not an IPv6 address'],
    ["assign", (provider) => provider.assign("../account", "42"), '"../account" is not an IPv6 address'],
    ["delete", (provider) => provider.delete(""), '"" is not an IPv6 address'],
    ["assign", (provider) => provider.assign(ip, "042"), '"042" is not a droplet id'],
    ["machine", (provider) => provider.machineAddresses("-1"), '"-1" is not a droplet id'],
    ["create", (provider) => provider.create({ machineID: "42" }, buyer), "makes one for a region only"],
  ])("a %s that cannot be sent is refused before: %o", async ([operation, call, reason]) => {
    await withServer([], async ({ ipv6: provider, server }) => {
      const error = await failureOf(call(provider));
      expect(error).toMatchObject({ failure: "refused", status: 0, operation, isAmbiguous: false });
      expect(error.message).toContain(reason);
      expect(server.requests).toEqual([]);
    });
  });
});

const get = (provider: IPProvider): Promise<unknown> => provider.getAddress(ip);
const list = (provider: IPProvider): Promise<unknown> => provider.listPage(1);
const machine = (provider: IPProvider): Promise<unknown> => provider.machineAddresses("42");
const free = { ip, region: "nyc3", isLocked: false };

describe("answers about reserved IPv6 addresses", () => {
  test.for<readonly [string, (provider: IPProvider) => Promise<unknown>, object, unknown]>([
    ["an address of a droplet", get, addressJSON({ droplet: { id: 42 } }), { ...free, holderID: "42" }],
    ["a droplet that is null as unattached", get, addressJSON({ droplet: null }), free],
    ["a droplet that is absent as unattached", get, addressJSON(), free],
    ["an absent region as the empty one", get, addressJSON({ region_slug: undefined }), { ...free, region: "" }],
    [
      "an address that is bare, as the API was seen to give it",
      get,
      bareJSON({ droplet: { id: 42 } }),
      { ...free, holderID: "42" },
    ],
    ["an address in capitals", get, addressJSON({ ip: "2001:DB8:D0::1" }), free],
    ["an address that is written out", get, addressJSON({ ip: "2001:0db8:00d0:0000:0000:0000:0000:0001" }), free],
    [
      "a page and its total",
      list,
      { reserved_ipv6s: [bareJSON(), bareJSON({ ip: "2001:DB8:D0:0::2", droplet: { id: 43 } })], meta: { total: 201 } },
      {
        addresses: [free, { ip: "2001:db8:d0::2", region: "nyc3", isLocked: false, holderID: "43" }],
        hasMore: true,
        total: 201,
      },
    ],
    [
      "a list under the name that DigitalOcean's client for Go reads",
      list,
      { reserved_ips: [bareJSON()], meta: { total: 1 } },
      { addresses: [free], hasMore: false, total: 1 },
    ],
    [
      "a page that says there is nothing",
      list,
      { reserved_ipv6s: [], meta: { total: 0 } },
      { addresses: [], hasMore: false, total: 0 },
    ],
    ["the IPv6 addresses of a droplet", machine, dropletWith(["2001:DB8::A", ip]), ["2001:db8::a", ip]],
    ["a droplet without IPv6", machine, dropletWith([]), []],
  ])("understand %s", async ([, call, json, value]) => {
    await withServer({ json, isOffSpec: true }, async ({ ipv6: provider }) => {
      expect(await call(provider)).toEqual(value);
    });
  });

  test("decode every example of the API description", async () => {
    const document = JSON.parse(readFileSync(new URL("../../openapi/digitalocean.json", import.meta.url), "utf8"));
    const { examples, responses } = document.components;
    const replies: Reply[] = [
      { json: examples.reserved_ipv6_reserved.value },
      { json: examples.reserved_ipv6_assigned.value },
      { json: responses.reserved_ipv6_list.content["application/json"].schema.example },
      { status: 201, json: responses.reserved_ipv6_action.content["application/json"].schema.example },
    ];
    await withServer(replies, async ({ ipv6: provider }) => {
      const known = "2409:40d0:f7:1017:74b4:3a96:105e:4c6e";
      const shown = { ip: known, region: "nyc3", isLocked: false };
      expect(await provider.getAddress(known)).toEqual(shown);
      expect(await provider.getAddress(known)).toEqual({ ...shown, holderID: "3164444" });
      expect(await provider.listPage(1)).toEqual({
        addresses: [
          { ip: "fd53:616d:6d60::dc9:c001", region: "nyc3", isLocked: false },
          { ip: "fd53:616d:6d60::dc9:c002", region: "nyc1", isLocked: false },
        ],
        hasMore: false,
        total: 1,
      });
      expect(await provider.assign(known, "42")).toEqual({ ip: known, actionID: "72531856" });
    });
  });

  test.for<readonly [string, Reply]>([
    ["documented", { status: 201, json: addressJSON() }],
    ["bare", { status: 201, json: bareJSON() }],
  ])("a purchase returns the address of a %s answer", async ([, reply]) => {
    await withServer(reply, async ({ ipv6: provider }) => {
      expect(await provider.create({ region: "nyc3" }, buyer)).toEqual(free);
    });
  });

  test("a purchase whose answer has no address leaves open whether one was bought", async () => {
    await withServer({ status: 201, json: {}, isOffSpec: true }, async ({ ipv6: provider, server }) => {
      const error = await failureOf(provider.create({ region: "nyc3" }, buyer));
      expect(error).toMatchObject({ failure: "malformed", isAmbiguous: true, operation: "create" });
      expect(error.message).toBe(
        'DigitalOcean gave an unusable answer when asked to create a reserved IPv6 in region "nyc3": reserved_ipv6 is missing, not an object (201); it may have taken effect all the same',
      );
      expect(server.requests).toHaveLength(1);
    });
  });

  test("404 is no such address, no such droplet, an unknown action, and the end of a deletion", async () => {
    await withServer(notFound, async ({ ipv6: provider }) => {
      expect(await provider.getAddress(ip)).toBeUndefined();
      expect(await provider.machineAddresses("42")).toBeUndefined();
      expect(await provider.actionState({ ip, actionID: "7" })).toBe("unknown");
      await provider.delete(ip);
    });
  });

  test.for<readonly [string, Reply]>([
    ["has no action", { status: 201, json: {} }],
    ["is HTML", { status: 201, text: "<html>ok</html>", headers: { "content-type": "text/html" } }],
    ["is empty", { status: 202 }],
    ["breaks off", { status: 201, json: { action: actionJSON(7) }, fault: "cut" }],
  ])("an accepted assignment whose answer %s has no action id", async ([, reply]) => {
    await withServer({ isOffSpec: true, ...reply }, async ({ ipv6: provider, server }) => {
      expect(await provider.assign(ip, "42")).toEqual({ ip, actionID: "" });
      expect(server.requests).toHaveLength(1);
    });
  });

  test("an action that the token may not read is unknown, and is not asked for again", async () => {
    const forbidden = { status: 403, json: errorJSON("forbidden", "You are not authorized to perform this operation") };
    await withServer(forbidden, async ({ ipv6: provider, server }) => {
      expect(await provider.actionState({ ip, actionID: "7" })).toBe("unknown");
      expect(await provider.actionState({ ip, actionID: "8" })).toBe("unknown");
      expect(server.requests).toHaveLength(1);
    });
  });

  test.for([
    ["completed", "done"],
    ["errored", "errored"],
    ["in-progress", "pending"],
  ] as const)("an action that is %s is %s", async ([status, state]) => {
    await withServer({ json: { action: actionJSON(7, status) } }, async ({ ipv6: provider, server }) => {
      expect(await provider.actionState({ ip, actionID: "7" })).toBe(state);
      expect(await provider.actionState({ ip, actionID: "" })).toBe("unknown");
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe("malformed answers about reserved IPv6 addresses", () => {
  for (const [call, json, reason] of [
    [get, {}, "reserved_ipv6 is missing, not an object"],
    [get, null, "the body is null, not an object"],
    [get, { reserved_ipv6: null }, "reserved_ipv6 is null, not an object"],
    [get, addressJSON({ ip: "203.0.113.1" }), 'reserved_ipv6.ip is "203.0.113.1", not an IPv6 address'],
    [get, addressJSON({ ip: `${ip}/64` }), 'reserved_ipv6.ip is "2001:db8:d0::1/64", not an IPv6 address'],
    [get, addressJSON({ ip: null }), "reserved_ipv6.ip is null, not an IPv6 address"],
    [get, addressJSON({ ip: "2001:db8:d0::2" }), "reserved_ipv6.ip is 2001:db8:d0::2, not 2001:db8:d0::1"],
    [get, addressJSON({ droplet: {} }), "reserved_ipv6.droplet.id is missing, not a numeric id"],
    [get, addressJSON({ droplet: 42 }), "reserved_ipv6.droplet is 42, not an object"],
    [get, addressJSON({ region_slug: "NYC 3" }), 'reserved_ipv6.region_slug is "NYC 3", not a slug'],
    [get, bareJSON({ droplet: { id: "42" } }), 'droplet.id is "42", not a numeric id'],
    [list, {}, "reserved_ipv6s is missing, not a list"],
    [list, { reserved_ipv6s: null, meta: { total: 0 } }, "reserved_ipv6s is null, not a list"],
    [list, { reserved_ipv6s: [] }, "meta is missing, not an object"],
    [list, { reserved_ipv6s: [], meta: { total: 3 } }, "reserved_ipv6s is empty although meta.total is 3"],
    [
      list,
      { reserved_ipv6s: [bareJSON(), {}], meta: { total: 2 } },
      "reserved_ipv6s[1].ip is missing, not an IPv6 address",
    ],
    [machine, { droplet: { id: 42 } }, "droplet.networks is missing, not an object"],
    [machine, dropletWith(["203.0.113.1"]), 'droplet.networks.v6[0].ip_address is "203.0.113.1", not an IPv6 address'],
  ] as const) {
    test(`say that ${reason}`, async () => {
      await withServer({ json, isOffSpec: true }, async ({ ipv6: provider, server }) => {
        const error = await failureOf(call(provider));
        expect(error).toMatchObject({ failure: "malformed", status: 200, isAmbiguous: false });
        expect(error.message).toContain(`: ${reason} (200)`);
        expect(server.requests).toHaveLength(1);
      });
    });
  }
});

describe("refusals about reserved IPv6 addresses", () => {
  test.for([
    [422, "busy", "Droplet already has a pending event."],
    [422, "refused", "Droplet already has a reserved IP."],
    [400, "refused", "flipv6 released failed: assigned FLIP cannot be released"],
    [404, "not-found", "The resource could not be found."],
    [401, "unauthorized", "Unable to authenticate you"],
    [403, "forbidden", "You are not authorized"],
  ] as const)("with status %i are %s: %s", async ([status, failure, message]) => {
    await withServer({ status, json: errorJSON("an_id", message) }, async ({ ipv6: provider, server }) => {
      const error = await failureOf(provider.assign(ip, "42"));
      expect(error).toMatchObject({ provider: "digitalocean", failure, status, operation: "assign", subject: ip });
      expect(error.message).toContain(message);
      expect(server.requests).toHaveLength(1);
    });
  });

  test("name the scope that each operation needs: those of reserved IPs", async () => {
    await withServer({ status: 403, json: errorJSON("forbidden", "No.") }, async ({ ipv6: provider }) => {
      const calls: readonly (readonly [string, Promise<unknown>])[] = [
        ["reserved_ip:read", provider.listPage(1)],
        ["reserved_ip:read", provider.getAddress(ip)],
        ["droplet:read", provider.machineAddresses("42")],
        ["reserved_ip:update", provider.assign(ip, "42")],
        ["reserved_ip:update", provider.unassign(ip)],
        ["reserved_ip:create", provider.create({ region: "nyc3" }, buyer)],
        ["reserved_ip:delete", provider.delete(ip)],
      ];
      const messages = await Promise.all(calls.map(async ([, call]) => (await failureOf(call)).message));
      expect(messages.map((message) => /the scope (\S+)\.$/.exec(message)?.[1])).toEqual(calls.map(([scope]) => scope));
    });
  });

  test("of a deletion that is a 400 keep the address", async () => {
    const json = errorJSON("bad_request", "flipv6 released failed: assigned FLIP cannot be released");
    await withServer({ status: 400, json }, async ({ ipv6: provider }) => {
      expect(await failureOf(provider.delete(ip))).toMatchObject({ failure: "refused", operation: "delete" });
    });
  });
});

describe("a reserved IPv6 address that this process has sent", () => {
  const accepted: Reply = { status: 201, json: { action: actionJSON(7) } };
  const elsewhere: Reply = { json: addressJSON() };
  const arrived: Reply = { json: addressJSON({ droplet: { id: 42 } }) };
  const action = (status: string): Reply => ({ json: { action: actionJSON(7, status) } });

  test("is locked while its action runs, in the list too, and is read again once that has ended", async () => {
    const listed: Reply = { json: { reserved_ipv6s: [bareJSON()], links: {}, meta: { total: 1 } } };
    const script = [
      accepted,
      elsewhere,
      action("in-progress"),
      listed,
      action("in-progress"),
      elsewhere,
      action("completed"),
    ];
    await withServer([...script, arrived], async ({ ipv6: provider, server }) => {
      await provider.assign(ip, "42");
      expect(await provider.getAddress(ip)).toEqual({ ...free, isLocked: true });
      expect((await provider.listPage(1)).addresses).toEqual([{ ...free, isLocked: true }]);
      expect(await provider.getAddress(ip)).toEqual({ ...free, holderID: "42" });
      expect(server.requests).toHaveLength(8);
    });
  });

  test("is asked about no more once it is there", async () => {
    await withServer([accepted, arrived], async ({ ipv6: provider, server }) => {
      await provider.assign(ip, "42");
      expect(await provider.getAddress(ip)).toEqual({ ...free, holderID: "42" });
      expect(await provider.getAddress(ip)).toEqual({ ...free, holderID: "42" });
      expect(server.requests).toHaveLength(3);
    });
  });

  test("is free again where its action has failed", async () => {
    await withServer([accepted, elsewhere, action("errored"), elsewhere], async ({ ipv6: provider, server }) => {
      await provider.assign(ip, "42");
      expect(await provider.getAddress(ip)).toEqual(free);
      expect(await provider.getAddress(ip)).toEqual(free);
      expect(server.requests).toHaveLength(4);
    });
  });

  test.for<readonly [string, Reply]>([
    ["the token may not read", { status: 403, json: errorJSON("forbidden", "You are not authorized") }],
    ["DigitalOcean does not know", notFound],
    ["cannot be read now", { status: 500, json: errorJSON("server_error", "Unexpected server-side error") }],
  ])("is locked for ten seconds where its action is one that %s", async ([, reply]) => {
    const clock = new FakeClock();
    const answer = ({ path, method }: Received): Reply =>
      method === "POST" ? accepted : path.startsWith("/v2/actions/") ? reply : elsewhere;
    await withServer(
      answer,
      async ({ ipv6: provider }) => {
        await provider.assign(ip, "42");
        expect(await provider.getAddress(ip)).toEqual({ ...free, isLocked: true });
        await clock.advance(9000);
        expect(await provider.getAddress(ip)).toEqual({ ...free, isLocked: true });
        await clock.advance(1000);
        expect(await provider.getAddress(ip)).toEqual(free);
      },
      { clock },
    );
  });
});
