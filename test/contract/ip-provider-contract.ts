import { describe, expect, test } from "vitest";
import { ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { IPProvider } from "../../src/ports/ip-provider.ts";

/** An account to test a provider against: empty, its limit 250, its actions taking more than 0 s and less than a minute. */
export interface IPProviderWorld {
  readonly provider: IPProvider;
  readonly seed: {
    /** Adds an active droplet without addresses of its own that matter here. */
    droplet(id: string, region: string): void | Promise<void>;
    /** Adds an address, `locked` by an action that does not end within the test. BYOIP ones may be missing from the list. */
    address(
      ip: string,
      facts: {
        readonly region: string;
        readonly droplet?: string;
        readonly locked?: boolean;
        readonly byoip?: boolean;
      },
    ): void | Promise<void>;
    /** Sets how many reserved addresses the account may have. */
    limit(count: number): void | Promise<void>;
    /** Lets time pass for the provider's actions; a minute ends every one that was accepted. */
    advance(ms: number): void | Promise<void>;
  };
  dispose(): void | Promise<void>;
}

const ip1 = "203.0.113.1";
const ip2 = "203.0.113.2";
const unknownIP = "203.0.113.99";
const minuteMs = 60_000;

/**
 * Declares the tests that every IPProvider must pass, on a new world each. DigitalOcean's semantics, see the manual: one
 * address per droplet, same region only, asynchronous assignment that moves without unassigning, 422 and 404 as documented.
 */
export function ipProviderContract(name: string, makeWorld: () => IPProviderWorld | Promise<IPProviderWorld>): void {
  function inWorld(title: string, body: (world: IPProviderWorld) => Promise<void>): void {
    test(title, async () => {
      const world = await makeWorld();
      try {
        await body(world);
      } finally {
        await world.dispose();
      }
    });
  }

  describe(`${name} as an IP provider`, () => {
    describe("listPage", () => listing(inWorld));
    describe("getAddress, machineAddresses and addressLimit", () => reading(inWorld));
    describe("assign", () => assigning(inWorld));
    describe("assign when it is refused", () => refusing(inWorld));
    describe("unassign", () => unassigning(inWorld));
    describe("create", () => creating(inWorld));
    describe("delete", () => deleting(inWorld));
  });
}

type InWorld = (title: string, body: (world: IPProviderWorld) => Promise<void>) => void;

function listing(inWorld: InWorld): void {
  inWorld("is an empty page with total 0 when the account has no address", async ({ provider }) => {
    expect(await provider.listPage(1)).toEqual({ addresses: [], total: 0 });
  });

  inWorld("shows address, region, holder and lock", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    await seed.address(ip2, { region: "fra1", locked: true });
    const { addresses, total } = await provider.listPage(1);
    expect(total).toBe(2);
    expect(addresses.toSorted((a, b) => (a.ip < b.ip ? -1 : 1))).toEqual([
      { ip: ip1, region: "nyc3", holderID: "42", isLocked: false },
      { ip: ip2, region: "fra1", isLocked: true },
    ]);
  });

  inWorld("gives every address exactly once over its pages, and nothing after them", async ({ provider, seed }) => {
    const count = provider.pageSize + 5;
    const ips = Array.from({ length: count }, (_, at) => `10.1.${Math.floor(at / 250)}.${at % 250}`);
    for (const ip of ips) await seed.address(ip, { region: "nyc3" });
    const pages = [await provider.listPage(1), await provider.listPage(2), await provider.listPage(3)];
    expect(pages.map((page) => page.addresses.length)).toEqual([provider.pageSize, 5, 0]);
    expect(pages.map((page) => page.total)).toEqual([count, count, count]);
    expect(pages.flatMap((page) => page.addresses.map((address) => address.ip)).sort()).toEqual(ips.sort());
  });
}

function reading(inWorld: InWorld): void {
  inWorld("getAddress shows a reserved address", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", holderID: "42", isLocked: false });
  });

  inWorld("getAddress shows a BYOIP address", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3", byoip: true });
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", isLocked: false });
  });

  inWorld("getAddress shows a lock", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3", locked: true });
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", isLocked: true });
  });

  inWorld("getAddress is undefined for an address the account does not have", async ({ provider }) => {
    expect(await provider.getAddress(unknownIP)).toBeUndefined();
  });

  inWorld("machineAddresses has the reserved address that is on the droplet", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.droplet("43", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    expect(await provider.machineAddresses("42")).toContain(ip1);
    expect(await provider.machineAddresses("43")).not.toContain(ip1);
  });

  inWorld("machineAddresses is undefined for a droplet that does not exist", async ({ provider }) => {
    expect(await provider.machineAddresses("4711")).toBeUndefined();
  });

  inWorld("addressLimit is the account's limit", async ({ provider, seed }) => {
    await seed.limit(7);
    expect(await provider.addressLimit()).toBe(7);
  });

  inWorld("addressLimit is undefined when the account shows 0", async ({ provider, seed }) => {
    await seed.limit(0);
    expect(await provider.addressLimit()).toBeUndefined();
  });

  inWorld("actionState is unknown for an action that does not exist or has no id", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3" });
    expect(await provider.actionState({ ip: ip1, actionID: "999999999" })).toBe("unknown");
    expect(await provider.actionState({ ip: ip1, actionID: "" })).toBe("unknown");
  });
}

function assigning(inWorld: InWorld): void {
  inWorld("attaches a free address once its action is done, and locks it until then", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3" });
    const action = await provider.assign(ip1, "42");
    expect(action.ip).toBe(ip1);
    expect(await provider.actionState(action)).toBe("pending");
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", isLocked: true });
    await seed.advance(minuteMs);
    expect(await provider.actionState(action)).toBe("done");
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", holderID: "42", isLocked: false });
    expect(await provider.machineAddresses("42")).toContain(ip1);
  });

  inWorld("moves an address from another droplet without unassigning it first", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.droplet("43", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    const action = await provider.assign(ip1, "43");
    expect((await provider.getAddress(ip1))?.holderID).toBe("42");
    await seed.advance(minuteMs);
    expect(await provider.actionState(action)).toBe("done");
    expect((await provider.getAddress(ip1))?.holderID).toBe("43");
    expect(await provider.machineAddresses("42")).not.toContain(ip1);
  });

  inWorld("attaches a BYOIP address although its action is never known", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", byoip: true });
    const action = await provider.assign(ip1, "42");
    expect(await provider.actionState(action)).toBe("unknown");
    await seed.advance(minuteMs);
    expect(await provider.actionState(action)).toBe("unknown");
    expect((await provider.getAddress(ip1))?.holderID).toBe("42");
  });
}

function refusing(inWorld: InWorld): void {
  for (const byoip of [false, true]) {
    const kind = byoip ? "a BYOIP" : "a reserved";
    inWorld(`is refused when the droplet holds ${kind} address already`, async ({ provider, seed }) => {
      await seed.droplet("42", "nyc3");
      await seed.address(ip1, { region: "nyc3", droplet: "42", byoip });
      await seed.address(ip2, { region: "nyc3" });
      expectRefusal(await errorOf(provider.assign(ip2, "42")), "refused", { operation: "assign", subject: ip2 });
      await seed.advance(minuteMs);
      expect(await provider.getAddress(ip2)).toEqual({ ip: ip2, region: "nyc3", isLocked: false });
    });
  }

  inWorld("is refused when the address is on that droplet already, and leaves it there", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    expectRefusal(await errorOf(provider.assign(ip1, "42")), "refused", { operation: "assign", subject: ip1 });
    expect((await provider.getAddress(ip1))?.holderID).toBe("42");
  });

  inWorld("is refused when the droplet is in another region", async ({ provider, seed }) => {
    await seed.droplet("42", "fra1");
    await seed.address(ip1, { region: "nyc3" });
    expectRefusal(await errorOf(provider.assign(ip1, "42")), "refused", { operation: "assign", subject: ip1 });
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", isLocked: false });
  });

  inWorld("is busy while the address is locked", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", locked: true });
    expectRefusal(await errorOf(provider.assign(ip1, "42")), "busy", { operation: "assign", subject: ip1 });
  });

  inWorld("is busy while the address has an action of our own", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.droplet("43", "nyc3");
    await seed.address(ip1, { region: "nyc3" });
    await provider.assign(ip1, "42");
    expectRefusal(await errorOf(provider.assign(ip1, "43")), "busy", { operation: "assign", subject: ip1 });
    await seed.advance(minuteMs);
    expect((await provider.getAddress(ip1))?.holderID).toBe("42");
  });

  inWorld("is busy while the droplet has a pending event", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3" });
    await seed.address(ip2, { region: "nyc3" });
    await provider.assign(ip1, "42");
    expectRefusal(await errorOf(provider.assign(ip2, "42")), "busy", { operation: "assign", subject: ip2 });
  });

  inWorld("is not found for an unknown address", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    const subject = unknownIP;
    expectRefusal(await errorOf(provider.assign(subject, "42")), "not-found", { operation: "assign", subject });
  });

  inWorld("is not found for an unknown droplet", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3" });
    expectRefusal(await errorOf(provider.assign(ip1, "4711")), "not-found", { operation: "assign", subject: ip1 });
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", isLocked: false });
  });
}

function unassigning(inWorld: InWorld): void {
  inWorld("detaches an address once its action is done, and keeps it", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    const action = await provider.unassign(ip1);
    expect(action.ip).toBe(ip1);
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", holderID: "42", isLocked: true });
    await seed.advance(minuteMs);
    expect(await provider.actionState(action)).toBe("done");
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", isLocked: false });
    expect(await provider.machineAddresses("42")).not.toContain(ip1);
  });

  inWorld("makes room on the droplet for another address", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    await seed.address(ip2, { region: "nyc3" });
    await provider.unassign(ip1);
    await seed.advance(minuteMs);
    await provider.assign(ip2, "42");
    await seed.advance(minuteMs);
    expect((await provider.getAddress(ip2))?.holderID).toBe("42");
  });

  inWorld("is refused when the address is not assigned", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3" });
    expectRefusal(await errorOf(provider.unassign(ip1)), "refused", { operation: "unassign", subject: ip1 });
  });

  inWorld("is busy while the address is locked", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42", locked: true });
    expectRefusal(await errorOf(provider.unassign(ip1)), "busy", { operation: "unassign", subject: ip1 });
  });

  inWorld("is not found for an unknown address", async ({ provider }) => {
    const subject = unknownIP;
    expectRefusal(await errorOf(provider.unassign(subject)), "not-found", { operation: "unassign", subject });
  });
}

function creating(inWorld: InWorld): void {
  inWorld("buys an unattached address in a region", async ({ provider }) => {
    const made = await provider.create({ region: "nyc3" });
    expect(made).toEqual({ ip: made.ip, region: "nyc3", isLocked: false });
    expect(await provider.getAddress(made.ip)).toEqual(made);
    expect(await provider.listPage(1)).toEqual({ addresses: [made], total: 1 });
  });

  inWorld("buys an address for a droplet and attaches it once the action is done", async ({ provider, seed }) => {
    await seed.droplet("42", "fra1");
    const { ip, region } = await provider.create({ machineID: "42" });
    expect(region).toBe("fra1");
    await seed.advance(minuteMs);
    expect(await provider.getAddress(ip)).toEqual({ ip, region: "fra1", holderID: "42", isLocked: false });
  });

  inWorld("buys another address each time", async ({ provider }) => {
    const first = await provider.create({ region: "nyc3" });
    const second = await provider.create({ region: "nyc3" });
    expect(second.ip).not.toBe(first.ip);
    expect((await provider.listPage(1)).total).toBe(2);
  });

  inWorld("is refused over the account's limit, and buys nothing", async ({ provider, seed }) => {
    await seed.limit(1);
    await seed.address(ip1, { region: "nyc3" });
    expectRefusal(await errorOf(provider.create({ region: "nyc3" })), "refused", { operation: "create", subject: "" });
    expect((await provider.listPage(1)).total).toBe(1);
  });

  inWorld("is refused for a droplet that holds an address already, and buys nothing", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    const error = await errorOf(provider.create({ machineID: "42" }));
    expectRefusal(error, "refused", { operation: "create", subject: "42" });
    expect((await provider.listPage(1)).total).toBe(1);
  });

  inWorld("is not found for an unknown droplet, and buys nothing", async ({ provider }) => {
    const error = await errorOf(provider.create({ machineID: "4711" }));
    expectRefusal(error, "not-found", { operation: "create", subject: "4711" });
    expect((await provider.listPage(1)).total).toBe(0);
  });
}

function deleting(inWorld: InWorld): void {
  inWorld("gives an unattached address back", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3" });
    await seed.address(ip2, { region: "nyc3" });
    await provider.delete(ip1);
    expect(await provider.getAddress(ip1)).toBeUndefined();
    expect((await provider.listPage(1)).addresses.map((address) => address.ip)).toEqual([ip2]);
  });

  inWorld("resolves when the address is gone already", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3" });
    await provider.delete(ip1);
    await provider.delete(ip1);
    await provider.delete(unknownIP);
    expect((await provider.listPage(1)).total).toBe(0);
  });

  inWorld("only releases an address that is assigned", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    await provider.delete(ip1);
    await seed.advance(minuteMs);
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", isLocked: false });
  });

  inWorld("is busy right after an unassign, and keeps the address", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    await provider.unassign(ip1);
    expectRefusal(await errorOf(provider.delete(ip1)), "busy", { operation: "delete", subject: ip1 });
    await seed.advance(minuteMs);
    expect(await provider.getAddress(ip1)).toEqual({ ip: ip1, region: "nyc3", isLocked: false });
  });
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => "no error",
    (error: unknown) => error,
  );
}

function expectRefusal(
  error: unknown,
  failure: ProviderFailure,
  call: { readonly operation: string; readonly subject: string },
): void {
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ provider: "digitalocean", failure, isAmbiguous: false, ...call });
}
