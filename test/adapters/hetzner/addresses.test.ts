import { describe, expect, test } from "vitest";
import { NotSent, ProviderError } from "../../../src/model/errors.ts";
import { readAllPages } from "../../../src/ports/listing.ts";
import { inProject } from "./project.ts";

const IP = "203.0.113.1";
const UID = "0a1b2c3d-0000-4000-8000-000000000001";
const BUYER = { uid: UID, knownIPs: [] };

async function failure(call: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error;
  throw new Error(`no ProviderError, but ${String(error)}`);
}

describe("the list of floating IPs", () => {
  test("has IPv6 networks beside addresses, and is whole all the same", async () => {
    const floating_ips = [{ ip: "2001:db8:1:2::/64", type: "ipv6", home_location: "fsn1" }, { ip: IP }];
    await inProject({ floating_ips }, async ({ hetzner: { addresses } }) => {
      expect(await addresses.listPage(1)).toMatchObject({ addresses: [{ ip: IP }], others: ["5001"], total: 2 });
      expect(await readAllPages(addresses, { isVerified: true })).toMatchObject({ isComplete: true, total: 2 });
    });
  });

  test("ends where no next page is named, although it tells no totals", async () => {
    const floating_ips = Array.from({ length: 120 }, (_, at) => ({ ip: `198.18.0.${at + 1}` }));
    await inProject({ floating_ips, settings: { tells_totals: false } }, async ({ hetzner: { addresses }, calls }) => {
      const pages = [await addresses.listPage(1), await addresses.listPage(2), await addresses.listPage(3)];
      expect(pages.map(({ addresses: shown, hasMore, total }) => [shown.length, hasMore, total])).toEqual([
        [50, true, undefined],
        [50, true, undefined],
        [20, false, undefined],
      ]);
      expect(await addresses.getAddress("198.18.0.119")).toMatchObject({ ip: "198.18.0.119" });
      expect(calls.at(-1)).toMatch(/^GET \/v1\/floating_ips\/\d+ 200$/);
    });
  });

  test("is whole without totals, and its earlier pages are read a second time, since no total shows that it has changed", async () => {
    const floating_ips = Array.from({ length: 120 }, (_, at) => ({ ip: `198.18.0.${at + 1}` }));
    await inProject({ floating_ips, settings: { tells_totals: false } }, async ({ hetzner: { addresses }, calls }) => {
      for (const isVerified of [true, false]) {
        calls.length = 0;
        const listing = await readAllPages(addresses, { isVerified });
        expect(listing).toMatchObject({ isComplete: true, total: 120 });
        expect(listing.addresses).toHaveLength(120);
        expect(calls).toHaveLength(5);
      }
    });
  });

  test.each([
    ["lacks a field", { id: 7001, type: "ipv4", ip: "203.0.113.2", name: "odd", home_location: null, blocked: false }],
    ["is of a new type", { id: 7001, type: "anycast", ip: "anycast-7", name: "odd" }],
    ["is null", null],
  ])("shows all others where an entry %s, and says of none that it is not there", async (_, odd) => {
    await inProject({ floating_ips: [{ ip: IP }] }, async ({ hetzner: { addresses }, sandbox, faults, calls }) => {
      const { body } = sandbox.handle({
        ...{ method: "GET", path: "/v1/floating_ips", query: new URLSearchParams() },
        ...{ headers: { authorization: "Bearer secret-token" }, body: undefined },
      } as never) as { body: { floating_ips: unknown[]; meta: object } };
      const shown = { ...body, floating_ips: [odd, ...body.floating_ips] };
      const pagination = {
        page: 1,
        per_page: 50,
        previous_page: null,
        next_page: null,
        last_page: 1,
        total_entries: 2,
      };
      faults.add({
        server: "hetzner",
        path: "/floating_ips$",
        times: 0,
        status: 200,
        body: { ...shown, meta: { pagination } },
      });
      expect(await readAllPages(addresses, { isVerified: true })).toMatchObject({
        ...{ addresses: [{ ip: IP }], isComplete: false, total: 2 },
      });
      expect(await addresses.getAddress(IP)).toMatchObject({ ip: IP });
      expect(await failure(addresses.getAddress("203.0.113.2"))).toMatchObject({ failure: "malformed" });
      expect(calls.filter((call) => call.startsWith("POST"))).toEqual([]);
    });
  });

  test.each([
    ["nothing of other pages", {}, "malformed"],
    ["no next page", { next_page: null }, undefined],
    ["a total", { total_entries: 1 }, undefined],
  ])("that tells %s is whole only where it says so", async (_, pagination, expected) => {
    await inProject({ floating_ips: [{ ip: IP }] }, async ({ hetzner: { addresses }, faults, sandbox }) => {
      const { body } = sandbox.handle({
        ...{ method: "GET", path: "/v1/floating_ips", query: new URLSearchParams() },
        ...{ headers: { authorization: "Bearer secret-token" }, body: undefined },
      } as never) as { body: object };
      faults.add({
        server: "hetzner",
        path: "/floating_ips$",
        times: 0,
        status: 200,
        body: { ...body, meta: { pagination } },
      });
      const error = await failure(addresses.getAddress("203.0.113.2")).catch(() => undefined);
      expect(error?.failure).toBe(expected);
    });
  });

  test("is read once for all who look for addresses that were never seen", async () => {
    await inProject({ floating_ips: [{ ip: IP }] }, async ({ hetzner: { addresses }, calls }) => {
      const found = await Promise.all([IP, "203.0.113.2", "203.0.113.3"].map((ip) => addresses.getAddress(ip)));
      expect(found.map((address) => address?.ip)).toEqual([IP, undefined, undefined]);
      expect(calls.filter((call) => call === "GET /v1/floating_ips 200")).toHaveLength(1);
    });
  });

  test("says which address Hetzner has blocked", async () => {
    await inProject({ floating_ips: [{ ip: IP, blocked: true }] }, async ({ hetzner: { addresses } }) => {
      expect(await addresses.getAddress(IP)).toMatchObject({ ip: IP, isBlocked: true });
    });
  });
});

describe("a purchase", () => {
  const state = { servers: [{ id: 42, location: "nbg1" }], settings: { floating_ip_limit: 3 } };

  test("has a name of its own and a label with its owner, and is asked for in one call", async () => {
    await inProject(state, async ({ hetzner: { addresses }, sandbox, calls }) => {
      const first = await addresses.create({ machineID: "42" }, BUYER);
      const second = await addresses.create({ region: "fsn1" }, BUYER);
      expect([first, second]).toMatchObject([
        { region: "nbg1", boughtFor: UID },
        { region: "fsn1", boughtFor: UID },
      ]);
      expect(calls).toEqual(["POST /v1/floating_ips 201", "POST /v1/floating_ips 201"]);
      const { floating_ips } = sandbox.project().state;
      expect(floating_ips.map(({ name, server }) => [name, server])).toEqual([
        [`flipop-${UID}-1`, 42],
        [`flipop-${UID}-2`, null],
      ]);
    });
  });

  test("whose answer was lost is found by its name, and nothing is bought twice", async () => {
    await inProject(state, async ({ hetzner: { addresses }, sandbox, faults, again }) => {
      faults.add({ server: "hetzner", method: "POST", path: "/floating_ips$", cut: "after" });
      expect(await failure(addresses.create({ region: "fsn1" }, BUYER))).toMatchObject({ isAmbiguous: true });
      // Another process has not seen the list either.
      const made = await again().addresses.create({ region: "fsn1" }, BUYER);
      expect(made).toMatchObject({ boughtFor: UID, region: "fsn1" });
      expect(sandbox.project().state.floating_ips.map(({ ip }) => ip)).toEqual([made.ip]);
    });
  });

  test("that is found by its name counts as locked until its action has ended, also where it shows its target early", async () => {
    const settings = { action_delay_ms: 20_000, shows_target_early: true };
    await inProject({ ...state, settings }, async ({ hetzner: { addresses }, faults, again, clock }) => {
      faults.add({ server: "hetzner", method: "POST", path: "/floating_ips$", cut: "after" });
      expect(await failure(addresses.create({ machineID: "42" }, BUYER))).toMatchObject({ isAmbiguous: true });
      const other = again().addresses;
      const { ip } = await other.create({ machineID: "42" }, BUYER);
      expect(await other.getAddress(ip)).toMatchObject({ holderID: "42", isLocked: true });
      await clock.advance(20_000);
      expect(await other.getAddress(ip)).toMatchObject({ holderID: "42", isLocked: false });
    });
  });

  test("is not made under the next name where this run may buy nothing more", async () => {
    await inProject(state, async ({ hetzner: { addresses }, sandbox, again }) => {
      const { ip } = await addresses.create({ region: "fsn1" }, BUYER);
      let asked = 0;
      const mayWrite = (): boolean => {
        asked += 1;
        return asked === 1;
      };
      const buyer = { uid: UID, knownIPs: [ip] };
      const later = again({ mayWrite }).addresses.create({ region: "fsn1" }, buyer);
      await expect(later).rejects.toThrow(NotSent);
      expect(sandbox.project().state.floating_ips.map(({ name }) => name)).toEqual([`flipop-${UID}-1`]);
    });
  });

  test("is not answered by what an earlier one brought, which a list did not show yet", async () => {
    await inProject(state, async ({ hetzner: { addresses }, sandbox, again }) => {
      const { ip } = await addresses.create({ region: "fsn1" }, BUYER);
      const second = await again().addresses.create({ region: "fsn1" }, { uid: UID, knownIPs: [ip] });
      expect(second.ip).not.toBe(ip);
      expect(sandbox.project().state.floating_ips.map(({ name }) => name)).toEqual([
        `flipop-${UID}-1`,
        `flipop-${UID}-2`,
      ]);
    });
  });

  test("beyond the limit of the project is refused, and says which limit it is", async () => {
    await inProject({ ...state, settings: { floating_ip_limit: 0 } }, async ({ hetzner: { addresses } }) => {
      const error = await failure(addresses.create({ region: "fsn1" }, BUYER));
      expect(error).toMatchObject({ failure: "over-quota", isAmbiguous: false, status: 403 });
      expect(error.message).toContain("floating_ip limit exceeded");
    });
  });
});

describe("an address on its way", () => {
  const state = {
    servers: [{ id: 42 }, { id: 43 }],
    floating_ips: [{ ip: IP, server: 42 }],
    settings: { action_delay_ms: 20_000 },
  };

  test("whose answer was lost counts as locked while an action runs, also to a list", async () => {
    await inProject(state, async ({ hetzner: { addresses }, faults, clock }) => {
      faults.add({ server: "hetzner", method: "POST", path: "/assign$", cut: "after" });
      expect(await failure(addresses.assign(IP, "43"))).toMatchObject({ isAmbiguous: true });
      expect(await addresses.getAddress(IP)).toMatchObject({ holderID: "42", isLocked: true });
      expect((await addresses.listPage(1)).addresses).toMatchObject([{ holderID: "42", isLocked: true }]);
      await clock.advance(20_000);
      expect(await addresses.getAddress(IP)).toMatchObject({ holderID: "43", isLocked: false });
    });
  });

  test("is busy for another process, to which it counts as locked from then on", async () => {
    await inProject(state, async ({ hetzner, again, clock }) => {
      await hetzner.addresses.assign(IP, "43");
      const other = again().addresses;
      expect(await other.getAddress(IP)).toMatchObject({ holderID: "42", isLocked: false });
      expect(await failure(other.assign(IP, "43"))).toMatchObject({ failure: "busy", isAmbiguous: false });
      expect(await other.getAddress(IP)).toMatchObject({ holderID: "42", isLocked: true });
      await clock.advance(20_000);
      expect(await other.getAddress(IP)).toMatchObject({ holderID: "43", isLocked: false });
    });
  });

  test("is busy only while an action runs, though the API shows those that have ended, too", async () => {
    await inProject(state, async ({ hetzner, again, clock, faults }) => {
      const { actionID } = await hetzner.addresses.assign(IP, "43");
      const other = again().addresses;
      expect(await failure(other.assign(IP, "43"))).toMatchObject({ failure: "busy" });
      await clock.advance(20_000);
      const pagination = {
        page: 1,
        per_page: 25,
        previous_page: null,
        next_page: null,
        last_page: 1,
        total_entries: 1,
      };
      const action = { id: Number(actionID), command: "assign_floating_ip", status: "success", resources: [] };
      const body = { actions: [action], meta: { pagination } };
      faults.add({ server: "hetzner", path: "/floating_ips/\\d+/actions$", times: 0, status: 200, body });
      expect(await other.getAddress(IP)).toMatchObject({ holderID: "43", isLocked: false });
    });
  });

  test("counts as locked until its action has ended, though it is shown where it was, and is asked about no more after that", async () => {
    await inProject(state, async ({ hetzner: { addresses }, clock, calls }) => {
      await addresses.assign(IP, "43");
      expect(await addresses.getAddress(IP)).toMatchObject({ holderID: "42", isLocked: true });
      expect((await addresses.listPage(1)).addresses).toMatchObject([{ holderID: "42", isLocked: true }]);
      await clock.advance(20_000);
      expect(await addresses.getAddress(IP)).toMatchObject({ holderID: "43", isLocked: false });
      calls.length = 0;
      expect(await addresses.getAddress(IP)).toMatchObject({ holderID: "43", isLocked: false });
      expect(calls).toEqual([expect.stringMatching(/^GET .*\/floating_ips\/\d+ 200$/)]);
    });
  });

  test("whose action failed is where it was, and is not locked", async () => {
    const settings = { action_delay_ms: 20_000, fail_next_actions: 1 };
    await inProject({ ...state, settings }, async ({ hetzner: { addresses }, clock }) => {
      const action = await addresses.assign(IP, "43");
      await clock.advance(20_000);
      expect(await addresses.actionState(action)).toBe("errored");
      expect(await addresses.getAddress(IP)).toMatchObject({ holderID: "42", isLocked: false });
    });
  });

  test("is asked for together with others: 30 actions in two calls", async () => {
    const many = Array.from({ length: 30 }, (_, at) => at + 1);
    const servers = many.map((number) => ({ id: number }));
    const floating_ips = many.map((number) => ({ ip: `198.18.0.${number}` }));
    await inProject({ servers, floating_ips, settings: { floating_ip_limit: 50 } }, async ({ hetzner, calls }) => {
      const { addresses } = hetzner;
      await addresses.listPage(1);
      const actions = [];
      for (const number of many) actions.push(await addresses.assign(`198.18.0.${number}`, String(number)));
      calls.length = 0;
      expect(await Promise.all(actions.map((action) => addresses.actionState(action)))).toEqual(many.map(() => "done"));
      expect(calls).toEqual(["GET /v1/actions 200", "GET /v1/actions 200"]);
    });
  });

  test("goes to a server of another location in one call", async () => {
    const servers = [
      { id: 42, location: "fsn1" },
      { id: 43, location: "hel1" },
    ];
    await inProject({ servers, floating_ips: [{ ip: IP, server: 42 }] }, async ({ hetzner: { addresses }, calls }) => {
      await addresses.listPage(1);
      await addresses.assign(IP, "43");
      expect(calls.at(-1)).toBe("POST /v1/floating_ips/5001/actions/assign 201");
      expect(await addresses.getAddress(IP)).toMatchObject({ holderID: "43", region: "fsn1" });
    });
  });
});

describe("what the API says otherwise", () => {
  test("a token that may only read is told apart from one that is wrong", async () => {
    const state = { tokens: { "secret-token": "read" }, servers: [{ id: 42 }], floating_ips: [{ ip: IP }] };
    await inProject(state, async ({ hetzner: { addresses }, again }) => {
      const error = await failure(addresses.assign(IP, "42"));
      expect(error.failure).toBe("forbidden");
      expect(error.message).toContain("Give flipop a token with the permission Read & Write.");
      const wrong = await failure(again({ token: "another" }).addresses.listPage(1));
      expect(wrong).toMatchObject({ failure: "unauthorized", status: 401 });
      expect(wrong.message).not.toContain("another");
    });
  });

  test("a path that the API does not have makes nothing gone", async () => {
    await inProject({ floating_ips: [{ ip: IP }] }, async ({ hetzner, faults }) => {
      await hetzner.addresses.listPage(1);
      const body = { error: { code: "not_found", message: "api route not found" } };
      faults.add({ server: "hetzner", method: "GET", path: "/floating_ips/", status: 404, body });
      expect(await failure(hetzner.addresses.getAddress(IP))).toMatchObject({ failure: "malformed" });
    });
  });

  test("an address that is protected is not given back, and the refusal says why", async () => {
    await inProject({ floating_ips: [{ ip: IP, protected: true }] }, async ({ hetzner: { addresses } }) => {
      const error = await failure(addresses.delete(IP));
      expect(error).toMatchObject({ failure: "refused", status: 423 });
      expect(error.message).toContain("protected against deletion");
    });
  });

  test("bad fields of a request are named, and the error knows the id of the request", async () => {
    await inProject(
      { floating_ips: [{ ip: IP }], servers: [{ id: 42 }] },
      async ({ hetzner: { addresses }, faults }) => {
        const details = { fields: [{ name: "server", messages: ["must be running"] }] };
        const body = { error: { code: "invalid_input", message: "invalid input", details } };
        const headers = { "x-correlation-id": "abc123" };
        faults.add({ server: "hetzner", method: "POST", path: "/assign$", status: 422, body, headers });
        const { message, requestID } = await failure(addresses.assign(IP, "42"));
        expect(message).toContain("invalid input (server: must be running) (422)");
        expect(requestID).toBe("abc123");
      },
    );
  });

  test.each([
    ["maintenance", 403, "unavailable"],
    ["conflict", 409, "busy"],
    ["resource_unavailable", 412, "busy"],
    ["deprecated_api_endpoint", 410, "refused"],
    ["server_error", 500, "unavailable"],
  ] as const)("%s (%i) is %s", async (code, status, expected) => {
    await inProject(
      { floating_ips: [{ ip: IP }], servers: [{ id: 42 }] },
      async ({ hetzner: { addresses }, faults }) => {
        await addresses.listPage(1);
        const body = { error: { code, message: "said by the API", details: null } };
        faults.add({ server: "hetzner", method: "POST", status, body });
        const isAmbiguous = expected === "unavailable";
        expect(await failure(addresses.assign(IP, "42"))).toMatchObject({ failure: expected, isAmbiguous });
      },
    );
  });

  test("after a 429 nothing is sent for a second, then for two, then for four; an address is asked for again after the short waits", async () => {
    await inProject({ settings: { rate_limit: 1 } }, async ({ hetzner: { addresses }, clock, calls, faults }) => {
      await addresses.listPage(1);
      // The one call of this second is used up, as the answer said.
      expect(await failure(addresses.listPage(1))).toMatchObject({ failure: "rate-limited", status: 0 });
      await clock.advance(4000);
      const sinceMs = clock.wallMs();
      const body = { error: { code: "rate_limit_exceeded", message: "limit" } };
      faults.add({ server: "hetzner", status: 429, body, times: 0 });
      const { notBeforeMs = 0 } = await failure(addresses.listPage(1));
      expect([clock.wallMs() - sinceMs, notBeforeMs - sinceMs]).toEqual([3000, 7000]);
      expect(calls.map((call) => call.replace("GET /v1/floating_ips ", ""))).toEqual(["200", "429", "429", "429"]);
    });
  });

  test("five calls at once that are all refused with 429 are waited for like one, and the next refusal twice as long", async () => {
    await inProject({}, async ({ hetzner: { dns }, clock, faults }) => {
      const body = { error: { code: "rate_limit_exceeded", message: "limit" } };
      faults.add({ server: "hetzner", status: 429, body, times: 0 });
      for (const waits of [1, 2, 4]) {
        const errors = await Promise.all([40, 41, 42, 43, 44].map((id) => failure(dns.findZone(`${id}.example`))));
        const longest = Math.max(...errors.map(({ notBeforeMs = 0 }) => notBeforeMs));
        expect((longest - clock.wallMs()) / 1000).toBe(waits);
        await clock.advance(waits * 1000);
      }
    });
  });

  test("an id that is none goes into no request", async () => {
    await inProject({ floating_ips: [{ ip: IP }] }, async ({ hetzner: { addresses }, calls }) => {
      for (const id of ["", "042", "1/2", "9007199254740993"])
        expect(await failure(addresses.assign(IP, id))).toMatchObject({ failure: "refused", status: 0 });
      expect(await failure(addresses.getAddress("203.0.113.01"))).toMatchObject({ failure: "refused", status: 0 });
      expect(calls).toEqual([]);
    });
  });
});
