import { describe, expect } from "vitest";
import { accountOf, type ExampleAddresses } from "./example-addresses.ts";
import { expectRefusal } from "./expect-refusal.ts";
import type { InWorld } from "./ip-provider-world.ts";

const minuteMs = 60_000;

/** Declares the tests of create and delete. */
export function accountContract(inWorld: InWorld, examples: ExampleAddresses): void {
  describe("create", () => creating(inWorld, examples));
  describe("delete", () => deleting(inWorld, examples));
}

function creating(inWorld: InWorld, examples: ExampleAddresses): void {
  const { ip1 } = examples;
  inWorld("buys an unattached address in a region", async ({ provider }) => {
    const made = await provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] });
    expect(made).toMatchObject({ ip: made.ip, region: "nyc3", isLocked: false });
    expect(made.holderID).toBeUndefined();
    expect(await provider.getAddress(made.ip)).toEqual(made);
    expect(await provider.listPage(1)).toEqual({ addresses: [made], hasMore: false, total: 1 });
  });

  inWorld(
    "buys an address for a droplet and attaches it once the action is done",
    async ({ provider, seed }) => {
      await seed.droplet("42", "fra1");
      const { ip, region } = await provider.create({ machineID: "42" }, { uid: "uid", knownIPs: [] });
      expect(region).toBe("fra1");
      await seed.advance(minuteMs);
      expect(await provider.getAddress(ip)).toMatchObject({ ip, region: "fra1", holderID: "42", isLocked: false });
    },
    "buysForMachine",
  );

  inWorld(
    "is refused for a droplet where an address is bought for a region only",
    async ({ provider, seed }) => {
      await seed.droplet("42", "nyc3");
      const call = provider.create({ machineID: "42" }, { uid: "uid", knownIPs: [] });
      const about = { provider: accountOf(provider), operation: "create", subject: "42" };
      await expectRefusal(call, "refused", about);
      expect((await provider.listPage(1)).total).toBe(0);
    },
    ({ buysForMachine }) => !buysForMachine,
  );

  inWorld("buys an address that can then be assigned", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    const { ip } = await provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] });
    await provider.assign(ip, "42");
    await seed.advance(minuteMs);
    expect(await provider.getAddress(ip)).toMatchObject({ ip, holderID: "42", isLocked: false });
    expect(await provider.machineAddresses("42")).toContain(ip);
  });

  inWorld("buys another address each time", async ({ provider }) => {
    const first = await provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] });
    const second = await provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] });
    expect(second.ip).not.toBe(first.ip);
    expect((await provider.listPage(1)).total).toBe(2);
  });

  inWorld("is refused over the account's limit, and buys nothing", async ({ provider, seed, differs }) => {
    await seed.limit(1);
    await seed.address(ip1, { region: "nyc3" });
    const failure = differs.namesLimit ? "over-quota" : "refused";
    await expectRefusal(provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] }), failure, {
      provider: accountOf(provider),
      operation: "create",
      subject: "",
    });
    expect((await provider.listPage(1)).total).toBe(1);
  });

  inWorld(
    "is refused for a droplet that holds an address already, and buys nothing",
    async ({ provider, seed }) => {
      await seed.droplet("42", "nyc3");
      await seed.address(ip1, { region: "nyc3", droplet: "42" });
      const call = provider.create({ machineID: "42" }, { uid: "uid", knownIPs: [] });
      await expectRefusal(call, "refused", { provider: accountOf(provider), operation: "create", subject: "42" });
      expect((await provider.listPage(1)).total).toBe(1);
    },
    "isBound",
  );

  inWorld(
    "is not found for an unknown droplet, and buys nothing",
    async ({ provider }) => {
      const call = provider.create({ machineID: "4711" }, { uid: "uid", knownIPs: [] });
      await expectRefusal(call, "not-found", { provider: accountOf(provider), operation: "create", subject: "4711" });
      expect((await provider.listPage(1)).total).toBe(0);
    },
    "buysForMachine",
  );
}

function deleting(inWorld: InWorld, examples: ExampleAddresses): void {
  const { ip1, ip2, unknownIP, shown } = examples;
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

  inWorld(
    "only releases an address that is assigned",
    async ({ provider, seed }) => {
      await seed.droplet("42", "nyc3");
      await seed.address(ip1, { region: "nyc3", droplet: "42" });
      await provider.delete(ip1);
      await seed.advance(minuteMs);
      expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", isLocked: false }));
    },
    "deletingReleases",
  );

  inWorld("never gives an assigned address back", async ({ provider, seed, differs }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    if (differs.deletingReleases) await provider.delete(ip1);
    else
      await expectRefusal(provider.delete(ip1), "refused", {
        provider: accountOf(provider),
        operation: "delete",
        subject: ip1,
      });
    await seed.advance(minuteMs);
    expect(await provider.getAddress(ip1)).toMatchObject({ ip: ip1, isLocked: false });
  });

  inWorld("is busy right after an unassign, and keeps the address", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    await provider.unassign(ip1);
    await expectRefusal(provider.delete(ip1), "busy", {
      provider: accountOf(provider),
      operation: "delete",
      subject: ip1,
    });
    await seed.advance(minuteMs);
    expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", isLocked: false }));
  });
}
