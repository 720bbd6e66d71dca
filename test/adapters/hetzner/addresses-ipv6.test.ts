import { describe, expect, test } from "vitest";
import { ProviderError } from "../../../src/model/errors.ts";
import { readAllPages } from "../../../src/ports/listing.ts";
import { inProject } from "./project.ts";

const NETWORK = "2001:db8:1:2::/64";
const FIRST = "2001:db8:1:2::1";
const OTHER = "2001:db8:1:2::5";
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

describe("the list of floating IPs of two families", () => {
  const floating_ips = [
    { ip: "203.0.113.1" },
    { ip: NETWORK, server: 42 },
    { ip: "203.0.113.2" },
    { ip: "2001:DB8:1:3::/64", blocked: true },
  ];
  const state = { servers: [{ id: 42 }], floating_ips };

  test("is told to each with the other one beside it, and is whole for both", async () => {
    await inProject(state, async ({ hetzner: { addresses, addressesIPv6 } }) => {
      expect(await addressesIPv6.listPage(1)).toEqual({
        addresses: [
          { ip: FIRST, network: NETWORK, region: "fsn1", holderID: "42", isLocked: false },
          { ip: "2001:db8:1:3::1", network: "2001:db8:1:3::/64", region: "fsn1", isLocked: false, isBlocked: true },
        ],
        others: ["5001", "5003"],
        hasMore: false,
        total: 4,
      });
      expect(await addresses.listPage(1)).toMatchObject({ others: ["5002", "5004"], total: 4 });
      for (const port of [addresses, addressesIPv6]) {
        const listing = await readAllPages(port, { isVerified: true });
        expect(listing).toMatchObject({ isComplete: true, total: 4 });
        expect(listing.addresses).toHaveLength(2);
      }
    });
  });

  test("is whole over its pages, without totals, too", async () => {
    const many = Array.from({ length: 120 }, (_, at) => ({
      ip: at % 2 === 0 ? `198.18.0.${at + 1}` : `2001:db8:7:${at.toString(16)}::/64`,
    }));
    await inProject({ floating_ips: many, settings: { tells_totals: false } }, async ({ hetzner }) => {
      for (const port of [hetzner.addresses, hetzner.addressesIPv6]) {
        const pages = [await port.listPage(1), await port.listPage(2), await port.listPage(3)];
        expect(pages.map(({ addresses, others = [] }) => [addresses.length, others.length])).toEqual([
          [25, 25],
          [25, 25],
          [10, 10],
        ]);
        expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
        expect(await readAllPages(port, { isVerified: true })).toMatchObject({ isComplete: true, total: 120 });
      }
    });
  });
});

describe("an address of a network", () => {
  const state = { servers: [{ id: 42 }, { id: 43 }], floating_ips: [{ ip: NETWORK, server: 42 }] };

  test("is found by the network it lies in, and the list shows the one that was asked for", async () => {
    await inProject(state, async ({ hetzner: { addressesIPv6 }, again, calls }) => {
      expect(await addressesIPv6.getAddress(OTHER)).toEqual({
        ip: OTHER,
        network: NETWORK,
        region: "fsn1",
        holderID: "42",
        isLocked: false,
      });
      expect(calls).toEqual(["GET /v1/floating_ips 200", "GET /v1/floating_ips/5001 200"]);
      expect((await addressesIPv6.listPage(1)).addresses).toMatchObject([{ ip: OTHER, network: NETWORK }]);
      expect(await addressesIPv6.machineAddresses("42")).toEqual(["2001:db8:5e:2a::1", OTHER]);
      expect((await again().addressesIPv6.listPage(1)).addresses).toMatchObject([{ ip: FIRST }]);
    });
  });

  test("beside another one says that both are of one network", async () => {
    await inProject(state, async ({ hetzner: { addressesIPv6 } }) => {
      const both = [await addressesIPv6.getAddress(OTHER), await addressesIPv6.getAddress(FIRST)];
      expect(both).toMatchObject([
        { ip: OTHER, network: NETWORK },
        { ip: FIRST, network: NETWORK },
      ]);
      expect((await addressesIPv6.listPage(1)).addresses).toMatchObject([{ ip: FIRST }]);
    });
  });

  test("of none of the project's networks is unknown, by one reading of the list", async () => {
    await inProject(state, async ({ hetzner: { addressesIPv6 }, calls }) => {
      const asked = ["2001:db8:1:3::1", "2001:db8:1:1:ffff::1", "2001:db9::1"];
      expect(await Promise.all(asked.map((ip) => addressesIPv6.getAddress(ip)))).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect(calls).toEqual(["GET /v1/floating_ips 200"]);
      expect(await failure(addressesIPv6.assign("2001:db8:1:3::1", "42"))).toMatchObject({ failure: "not-found" });
    });
  });

  test("lies in a network of another length, should Hetzner have one", async () => {
    await inProject({ floating_ips: [{ ip: "2001:db8:9:100::/56" }, { ip: NETWORK }] }, async ({ hetzner }) => {
      const { addressesIPv6 } = hetzner;
      expect(await addressesIPv6.getAddress("2001:db8:9:1ab::7")).toMatchObject({ network: "2001:db8:9:100::/56" });
      expect(await addressesIPv6.getAddress(OTHER)).toMatchObject({ network: NETWORK });
      expect(await addressesIPv6.getAddress("2001:db8:9:2ab::7")).toBeUndefined();
    });
  });

  test("moves with its network, in one call", async () => {
    await inProject(state, async ({ hetzner: { addressesIPv6 }, calls }) => {
      await addressesIPv6.listPage(1);
      await addressesIPv6.assign(OTHER, "43");
      expect(calls.at(-1)).toBe("POST /v1/floating_ips/5001/actions/assign 201");
      expect(await addressesIPv6.getAddress(FIRST)).toMatchObject({ ip: FIRST, holderID: "43" });
      await addressesIPv6.unassign(FIRST);
      expect(await addressesIPv6.getAddress(OTHER)).not.toHaveProperty("holderID");
    });
  });

  test("is locked with its network while an action runs that nobody has answered", async () => {
    const slow = { ...state, settings: { action_delay_ms: 20_000 } };
    await inProject(slow, async ({ hetzner: { addressesIPv6 }, faults, clock }) => {
      faults.add({ server: "hetzner", method: "POST", path: "/assign$", cut: "after" });
      expect(await failure(addressesIPv6.assign(OTHER, "43"))).toMatchObject({ isAmbiguous: true });
      expect(await addressesIPv6.getAddress(FIRST)).toMatchObject({ ip: FIRST, holderID: "42", isLocked: true });
      expect(await addressesIPv6.getAddress(OTHER)).toMatchObject({ ip: OTHER, holderID: "42", isLocked: true });
      await clock.advance(20_000);
      expect(await addressesIPv6.getAddress(OTHER)).toMatchObject({ ip: OTHER, holderID: "43", isLocked: false });
    });
  });

  test("shows its target early, and counts as locked until its action has ended", async () => {
    const early = { ...state, settings: { action_delay_ms: 20_000, shows_target_early: true, fail_next_actions: 1 } };
    await inProject(early, async ({ hetzner: { addressesIPv6 }, clock }) => {
      await addressesIPv6.assign(OTHER, "43");
      expect(await addressesIPv6.getAddress(OTHER)).toMatchObject({ ip: OTHER, holderID: "43", isLocked: true });
      await clock.advance(20_000);
      expect(await addressesIPv6.getAddress(OTHER)).toMatchObject({ ip: OTHER, holderID: "42", isLocked: false });
    });
  });

  test("is given back as its network, and the list shows the next one by its first address", async () => {
    await inProject({ floating_ips: [{ ip: NETWORK }] }, async ({ hetzner: { addressesIPv6 }, sandbox }) => {
      await addressesIPv6.getAddress(OTHER);
      await addressesIPv6.delete(OTHER);
      expect(sandbox.project().state.floating_ips).toEqual([]);
      expect(await addressesIPv6.getAddress(OTHER)).toBeUndefined();
      sandbox.edit(({ floating_ips }) => floating_ips.push({ ip: NETWORK } as never));
      expect((await addressesIPv6.listPage(1)).addresses).toMatchObject([{ ip: FIRST }]);
    });
  });

  test.each(["2001:DB8:1:2::1", "2001:db8:1:2:0::1", NETWORK, "203.0.113.1", ""])(
    "goes into no request as %j",
    async (text) => {
      await inProject(state, async ({ hetzner: { addressesIPv6 }, calls }) => {
        for (const call of [
          addressesIPv6.getAddress(text),
          addressesIPv6.assign(text, "42"),
          addressesIPv6.delete(text),
        ]) {
          const error = await failure(call);
          expect(error).toMatchObject({ provider: "hetzner", failure: "refused", status: 0 });
          expect(error.message).toContain("is not an IPv6 address");
        }
        expect(calls).toEqual([]);
      });
    },
  );

  test("is on a server beside the server's own network, if that has one", async () => {
    const servers = [
      { id: 42, ipv6: "2001:db8:99::/64" },
      { id: 43, ipv6: null },
    ];
    const floating_ips = [
      { ip: NETWORK, server: 42 },
      { ip: "203.0.113.1", server: 42 },
    ];
    await inProject({ servers, floating_ips }, async ({ hetzner: { addresses, addressesIPv6 }, calls }) => {
      expect(await addressesIPv6.machineAddresses("42")).toEqual(["2001:db8:99::1", FIRST]);
      expect(await addressesIPv6.machineAddresses("43")).toEqual([]);
      expect(await addressesIPv6.machineAddresses("44")).toBeUndefined();
      calls.length = 0;
      // What was seen once is not read again, whatever its family.
      await addressesIPv6.machineAddresses("42");
      expect(calls).toEqual(["GET /v1/servers/42 200"]);
      expect(await addresses.machineAddresses("42")).toEqual(["198.18.0.42", "203.0.113.1"]);
    });
  });
});

describe("a purchase of a network", () => {
  const state = { servers: [{ id: 42, location: "nbg1" }], settings: { floating_ip_limit: 4 } };

  test("has a name of its own beside those of addresses, and brings its first address", async () => {
    await inProject(state, async ({ hetzner: { addresses, addressesIPv6 }, sandbox }) => {
      const ipv4 = await addresses.create({ region: "fsn1" }, BUYER);
      const first = await addressesIPv6.create({ machineID: "42" }, BUYER);
      const second = await addressesIPv6.create({ region: "fsn1" }, BUYER);
      expect(ipv4).not.toHaveProperty("network");
      for (const { ip, network } of [first, second]) expect(network).toBe(ip.replace(/::1$/, "::/64"));
      expect([first, second]).toMatchObject([
        { region: "nbg1", boughtFor: UID },
        { region: "fsn1", boughtFor: UID },
      ]);
      const { floating_ips } = sandbox.project().state;
      expect(floating_ips.map(({ name, type, server }) => [name, type, server])).toEqual([
        [`flipop-${UID}-1`, "ipv4", null],
        [`flipop-${UID}-ipv6-1`, "ipv6", 42],
        [`flipop-${UID}-ipv6-2`, "ipv6", null],
      ]);
    });
  });

  test("whose answer was lost is found by its name, and nothing is bought twice", async () => {
    await inProject(state, async ({ hetzner: { addressesIPv6 }, sandbox, faults, again }) => {
      faults.add({ server: "hetzner", method: "POST", path: "/floating_ips$", cut: "after" });
      expect(await failure(addressesIPv6.create({ region: "fsn1" }, BUYER))).toMatchObject({ isAmbiguous: true });
      const made = await again().addressesIPv6.create({ region: "fsn1" }, BUYER);
      expect(sandbox.project().state.floating_ips.map(({ ip }) => ip)).toEqual([made.network]);
    });
  });

  test("is not answered by a network that was known by another address of it", async () => {
    await inProject(state, async ({ hetzner: { addressesIPv6 }, sandbox, again }) => {
      const { ip, network } = await addressesIPv6.create({ region: "fsn1" }, BUYER);
      const knownIPs = [ip.replace(/::1$/, "::77")];
      const second = await again().addressesIPv6.create({ region: "fsn1" }, { uid: UID, knownIPs });
      expect(second.network).not.toBe(network);
      expect(sandbox.project().state.floating_ips).toHaveLength(2);
    });
  });

  test("takes the next name where an address of the other family has its own", async () => {
    const floating_ips = [{ ip: "203.0.113.1", name: `flipop-${UID}-ipv6-1` }];
    await inProject({ ...state, floating_ips }, async ({ hetzner: { addressesIPv6 }, sandbox }) => {
      const { network } = await addressesIPv6.create({ region: "fsn1" }, BUYER);
      expect(sandbox.project().state.floating_ips.at(-1)).toMatchObject({ ip: network, name: `flipop-${UID}-ipv6-2` });
    });
  });

  test("whose answer is of the other family leaves open what was bought", async () => {
    await inProject(state, async ({ hetzner: { addressesIPv6 }, faults, sandbox }) => {
      sandbox.edit(({ floating_ips }) => floating_ips.push({ ip: "203.0.113.9" } as never));
      const reply = sandbox.handle({
        method: "GET",
        path: "/v1/floating_ips/5001",
        query: new URLSearchParams(),
        headers: { authorization: "Bearer secret-token" },
        body: undefined,
      });
      const body = "body" in reply ? reply.body : undefined;
      faults.add({ server: "hetzner", method: "POST", path: "/floating_ips$", status: 201, body });
      expect(await failure(addressesIPv6.create({ region: "fsn1" }, BUYER))).toMatchObject({
        failure: "malformed",
        isAmbiguous: true,
        message: expect.stringContaining("it is no IPv6 address"),
      });
    });
  });
});

describe("what the API says otherwise of networks", () => {
  test.each(["2001:db8:1:2::1", "2001:db8:1:2::/129", "203.0.113.0/24", ""])(
    "an IPv6 network that is %j is unclear for those who ask about IPv6, and nobody else",
    async (ip) => {
      await inProject(
        { floating_ips: [{ ip: "203.0.113.1" }, { ip: NETWORK }] },
        async ({ hetzner, sandbox, faults }) => {
          const reply = sandbox.handle({
            method: "GET",
            path: "/v1/floating_ips",
            query: new URLSearchParams(),
            headers: { authorization: "Bearer secret-token" },
            body: undefined,
          });
          const body = JSON.parse(JSON.stringify("body" in reply ? reply.body : {})) as {
            floating_ips: { ip: string }[];
          };
          for (const one of body.floating_ips) if (one.ip === NETWORK) one.ip = ip;
          faults.add({ server: "hetzner", method: "GET", path: "/floating_ips$", status: 200, body, times: 3 });
          expect(await hetzner.addressesIPv6.listPage(1)).toMatchObject({
            ...{ addresses: [], others: ["5001"], unclear: [expect.stringContaining(`"ip":${JSON.stringify(ip)}`)] },
          });
          expect(await failure(hetzner.addressesIPv6.getAddress(OTHER))).toMatchObject({ failure: "malformed" });
          expect(await hetzner.addresses.listPage(1)).toMatchObject({ addresses: [{ ip: "203.0.113.1" }], total: 2 });
        },
      );
    },
  );

  test("an answer about another network is malformed, and makes nothing gone", async () => {
    const floating_ips = [{ ip: NETWORK }, { ip: "2001:db8:1:3::/64" }];
    await inProject({ floating_ips }, async ({ hetzner: { addressesIPv6 }, sandbox }) => {
      await addressesIPv6.listPage(1);
      sandbox.edit((state) => {
        const [one, two] = state.floating_ips;
        if (one !== undefined && two !== undefined) [one.ip, two.ip] = [two.ip, one.ip];
      });
      expect(await failure(addressesIPv6.getAddress(OTHER))).toMatchObject({
        failure: "malformed",
        message: expect.stringContaining(`floating_ip.ip is 2001:db8:1:3::/64, not ${OTHER}`),
      });
    });
  });

  test("actions of both families are asked for in one call, and a 429 of one stops the other", async () => {
    const servers = [{ id: 42 }, { id: 43 }];
    const floating_ips = [{ ip: NETWORK }, { ip: "203.0.113.1" }];
    await inProject({ servers, floating_ips }, async ({ hetzner: { addresses, addressesIPv6 }, calls, faults }) => {
      const actions = [await addresses.assign("203.0.113.1", "42"), await addressesIPv6.assign(OTHER, "43")] as const;
      calls.length = 0;
      const states = [addresses.actionState(actions[0]), addressesIPv6.actionState(actions[1])];
      expect(await Promise.all(states)).toEqual(["done", "done"]);
      expect(calls).toEqual(["GET /v1/actions 200"]);
      faults.add({
        server: "hetzner",
        status: 429,
        headers: { "retry-after": "30" },
        body: { error: { code: "rate_limit_exceeded", message: "limit" } },
      });
      expect(await failure(addressesIPv6.listPage(1))).toMatchObject({ failure: "rate-limited" });
      expect(await failure(addresses.listPage(1))).toMatchObject({ failure: "rate-limited", status: 0 });
    });
  });
});
