import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ADDRESS } from "../../../src/adapters/digitalocean/addresses.ts";
import { object, read } from "../../../src/adapters/http/answer.ts";
import type { IPProvider } from "../../../src/ports/providers.ts";
import { accountJSON, actionJSON, addressJSON, dropletJSON, errorJSON } from "./api-objects.ts";
import type { Reply } from "./scripted-server.ts";
import { failureOf, withServer } from "./with-server.ts";

const ip = "203.0.113.1";
const notFound: Reply = { status: 404, json: errorJSON("not_found", "The resource could not be found.") };
const anAddress = { json: { reserved_ip: addressJSON(ip) } };

/** Calls that read one thing, with the path their answer must have. */
const get = (provider: IPProvider): Promise<unknown> => provider.getAddress(ip);
const list = (provider: IPProvider): Promise<unknown> => provider.listPage(1);
const machine = (provider: IPProvider): Promise<unknown> => provider.machineAddresses("42");
const limit = (provider: IPProvider): Promise<unknown> => provider.addressLimit();
const state = (provider: IPProvider): Promise<unknown> => provider.actionState({ ip, actionID: "7" });

describe("answers", () => {
  test.for([
    [
      "an address of a droplet",
      get,
      { reserved_ip: addressJSON(ip, { droplet: { id: 42 }, locked: true }) },
      { ip, region: "nyc3", holderID: "42", isLocked: true },
    ],
    [
      "a droplet that is null as unattached",
      get,
      { reserved_ip: addressJSON(ip) },
      { ip, region: "nyc3", isLocked: false },
    ],
    [
      "a droplet that is absent as unattached",
      get,
      { reserved_ip: addressJSON(ip, { droplet: undefined }) },
      { ip, region: "nyc3", isLocked: false },
    ],
    [
      "an absent region as the empty one",
      get,
      { reserved_ip: addressJSON(ip, { region: undefined }) },
      { ip, region: "", isLocked: false },
    ],
    [
      "a page and its total",
      list,
      { reserved_ips: [addressJSON(ip)], meta: { total: 201 } },
      { addresses: [{ ip, region: "nyc3", isLocked: false }], hasMore: true, total: 201 },
    ],
    [
      "a page that names a next one, whatever the total says",
      list,
      { reserved_ips: [addressJSON(ip)], links: { pages: { next: "https://x/?page=2" } }, meta: { total: 1 } },
      { addresses: [{ ip, region: "nyc3", isLocked: false }], hasMore: true, total: 1 },
    ],
    [
      "a page that names an earlier one only as the last",
      list,
      {
        reserved_ips: [addressJSON(ip)],
        links: { pages: { prev: "https://x/?page=1", next: null } },
        meta: { total: 1 },
      },
      { addresses: [{ ip, region: "nyc3", isLocked: false }], hasMore: false, total: 1 },
    ],
    [
      "a page that says there is nothing",
      list,
      { reserved_ips: [], meta: { total: 0 } },
      { addresses: [], hasMore: false, total: 0 },
    ],
    [
      "every IPv4 address of a droplet",
      machine,
      { droplet: dropletJSON(42, ["10.0.0.2", "203.0.113.9", ip]) },
      ["10.0.0.2", "203.0.113.9", ip],
    ],
    ["a droplet without a network", machine, { droplet: dropletJSON(42, []) }, []],
    ["the old name of the limit", limit, { account: accountJSON() }, 5],
    ["the new name of the limit first", limit, { account: accountJSON({ reserved_ip_limit: 9 }) }, 9],
    ["the old name where the new one is 0", limit, { account: accountJSON({ reserved_ip_limit: 0 }) }, 5],
    ["a limit of 0 as unknown", limit, { account: accountJSON({ floating_ip_limit: 0 }) }, undefined],
    ["a completed action", state, { action: actionJSON(7, "completed") }, "done"],
    ["an errored action", state, { action: actionJSON(7, "errored") }, "errored"],
    ["an action in progress", state, { action: actionJSON(7) }, "pending"],
  ] as const)("understands %s", async ([, call, json, value]) => {
    await withServer({ json }, async ({ provider }) => {
      expect(await call(provider)).toEqual(value);
    });
  });

  test.for([
    ["done", "done"],
    ["new", "pending"],
  ] as const)("takes the undocumented action status %s for %s", async ([status, value]) => {
    await withServer({ json: { action: actionJSON(7, status) }, isOffSpec: true }, async ({ provider }) => {
      expect(await state(provider)).toBe(value);
    });
  });

  test("takes an absent limit for unknown", async () => {
    const json = { account: { email: "sammy@example.com" } };
    await withServer({ json, isOffSpec: true }, async ({ provider }) => {
      expect(await provider.addressLimit()).toBeUndefined();
    });
  });

  test("takes 404 for no such address, no such droplet and an unknown action", async () => {
    await withServer(notFound, async ({ provider }) => {
      expect(await provider.getAddress(ip)).toBeUndefined();
      expect(await provider.machineAddresses("42")).toBeUndefined();
      expect(await provider.actionState({ ip, actionID: "7" })).toBe("unknown");
    });
  });

  test("takes 404 of a deletion for done", async () => {
    await withServer(notFound, async ({ provider, server }) => {
      await provider.delete(ip);
      expect(server.requests).toHaveLength(1);
    });
  });

  test("takes 403 of the limit for unknown, and 401 for a failure", async () => {
    const refusals = [
      { status: 403, json: errorJSON("forbidden", "You are not authorized to perform this operation") },
      { status: 401, json: errorJSON("unauthorized", "Unable to authenticate you") },
    ];
    await withServer(refusals, async ({ provider }) => {
      expect(await provider.addressLimit()).toBeUndefined();
      expect((await failureOf(provider.addressLimit())).failure).toBe("unauthorized");
    });
  });

  test("sends nothing for an action without a usable id", async () => {
    await withServer(anAddress, async ({ provider, server }) => {
      for (const actionID of ["", "abc", "-1", "1e3", "99999999999999999999"]) {
        expect(await provider.actionState({ ip, actionID })).toBe("unknown");
      }
      expect(server.requests).toEqual([]);
    });
  });

  test.for<readonly [string, Reply]>([
    ["has no action", { status: 201, json: {} }],
    ["is HTML", { status: 201, text: "<html>ok</html>", headers: { "content-type": "text/html" } }],
    ["is empty", { status: 202 }],
    ["breaks off", { status: 201, json: { action: actionJSON(7) }, fault: "cut" }],
  ])("an accepted assignment whose answer %s has no action id", async ([, reply]) => {
    await withServer({ isOffSpec: true, ...reply }, async ({ provider, server }) => {
      expect(await provider.assign(ip, "42")).toEqual({ ip, actionID: "" });
      expect(await provider.unassign(ip)).toEqual({ ip, actionID: "" });
      expect(server.requests).toHaveLength(2);
    });
  });

  test("a creation returns the address as answered", async () => {
    const json = { reserved_ip: addressJSON(ip, { locked: true }), links: {} };
    await withServer({ status: 202, json }, async ({ provider }) => {
      expect(await provider.create({ machineID: "42" }, { uid: "uid", knownIPs: [] })).toEqual({
        ip,
        region: "nyc3",
        isLocked: true,
      });
    });
  });

  test("decodes every example of an address in the API description", () => {
    const document = JSON.parse(readFileSync(new URL("../../openapi/digitalocean.json", import.meta.url), "utf8"));
    const examples = ["reserved_ip_assigning", "reserved_ip_reserving", "reserved_ip_assigned", "reserved_ip_reserved"];
    const decoded = examples.map((name) => {
      const { value } = document.components.examples[name];
      return read(object({ reserved_ip: ADDRESS }), value).reserved_ip;
    });
    const free = { ip: "45.55.96.47", region: "nyc3" };
    expect(decoded).toEqual([
      { ...free, isLocked: true },
      { ...free, isLocked: false },
      { ...free, isLocked: false, holderID: "3164444" },
      { ...free, isLocked: false },
    ]);
  });
});
