import { describe, expect, test } from "vitest";
import { sourceNamed, sourceText } from "../../src/model/address-source.ts";
import { type ExampleAddresses, exampleAddresses } from "./example-addresses.ts";
import { accountContract } from "./ip-provider-account-contract.ts";
import { actionContract } from "./ip-provider-action-contract.ts";
import type { InWorld, IPProviderWorld, Only, ProviderDifferences } from "./ip-provider-world.ts";

export type { IPProviderWorld } from "./ip-provider-world.ts";

/**
 * Declares the tests that every IPProvider must pass, on a new world each: asynchronous assignment that moves without unassigning, refusals and what is missing told apart.
 * What one provider has and another has not is said in `differs`.
 */
export function ipProviderContract(
  name: string,
  differs: ProviderDifferences,
  makeWorld: () => Omit<IPProviderWorld, "differs"> | Promise<Omit<IPProviderWorld, "differs">>,
): void {
  function inWorld(title: string, body: (world: IPProviderWorld) => Promise<void>, only?: Only): void {
    if (typeof only === "function" ? !only(differs) : only !== undefined && !differs[only]) return;
    test(title, async () => {
      const world = { ...(await makeWorld()), differs };
      try {
        await body(world);
      } finally {
        await world.dispose();
      }
    });
  }

  describe(`${name} as an IP provider`, () => {
    const examples = exampleAddresses(differs.family, differs.isNetwork);
    test("its name is the text of its source", async () => {
      const { provider, dispose } = await makeWorld();
      await dispose();
      expect(sourceNamed(provider.name)).toMatchObject({ family: differs.family });
      expect(sourceText(sourceNamed(provider.name))).toBe(provider.name);
    });
    describe("listPage", () => listing(inWorld, examples));
    describe("getAddress, machineAddresses and addressLimit", () => reading(inWorld, examples));
    actionContract(inWorld, examples);
    accountContract(inWorld, examples);
  });
}

function listing(inWorld: InWorld, examples: ExampleAddresses): void {
  const { ip1, ip2, many, shown } = examples;
  inWorld("is an empty page with total 0 when the account has no address", async ({ provider }) => {
    expect(await provider.listPage(1)).toEqual({ addresses: [], hasMore: false, total: 0 });
  });

  inWorld("shows address, region, holder and lock", async ({ provider, seed, differs }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    await seed.address(ip2, { region: "fra1", locked: true });
    const { addresses, total } = await provider.listPage(1);
    expect(total).toBe(2);
    expect(addresses.toSorted((a, b) => (a.ip < b.ip ? -1 : 1))).toEqual([
      shown(ip1, { region: "nyc3", holderID: "42", isLocked: false }),
      shown(ip2, { region: "fra1", isLocked: differs.showsLocks }),
    ]);
  });

  inWorld("gives every address exactly once over its pages, and nothing after them", async ({ provider, seed }) => {
    const count = provider.pageSize + 5;
    const ips = many(count);
    for (const ip of ips) await seed.address(ip, { region: "nyc3" });
    const pages = [await provider.listPage(1), await provider.listPage(2), await provider.listPage(3)];
    expect(pages.map((page) => page.addresses.length)).toEqual([provider.pageSize, 5, 0]);
    expect(pages.map((page) => page.total)).toEqual([count, count, count]);
    expect(pages.map((page) => page.hasMore)).toEqual([true, false, false]);
    expect(pages.flatMap((page) => page.addresses.map((address) => address.ip)).sort()).toEqual([...ips].sort());
  });
}

function reading(inWorld: InWorld, examples: ExampleAddresses): void {
  const { ip1, unknownIP, shown } = examples;
  inWorld("getAddress shows a reserved address", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", holderID: "42", isLocked: false }));
  });

  inWorld(
    "getAddress shows a BYOIP address",
    async ({ provider, seed }) => {
      await seed.address(ip1, { region: "nyc3", byoip: true });
      expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", isLocked: false }));
    },
    "hasPrefixes",
  );

  inWorld(
    "getAddress shows a lock",
    async ({ provider, seed }) => {
      await seed.address(ip1, { region: "nyc3", locked: true });
      expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", isLocked: true }));
    },
    "showsLocks",
  );

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

  inWorld(
    "addressLimit is the account's limit",
    async ({ provider, seed }) => {
      await seed.limit(7);
      expect(await provider.addressLimit()).toBe(7);
    },
    "tellsLimit",
  );

  inWorld(
    "addressLimit is undefined when the account shows 0",
    async ({ provider, seed }) => {
      await seed.limit(0);
      expect(await provider.addressLimit()).toBeUndefined();
    },
    "tellsLimit",
  );

  inWorld("actionState is unknown for an action that does not exist or has no id", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3" });
    expect(await provider.actionState({ ip: ip1, actionID: "999999999" })).toBe("unknown");
    expect(await provider.actionState({ ip: ip1, actionID: "" })).toBe("unknown");
  });
}
