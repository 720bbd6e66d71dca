import { describe, expect, test } from "vitest";
import type { Firewall } from "../../src/model/firewall.ts";
import type { FirewallProvider } from "../../src/ports/providers.ts";
import { firewallRefusalContract } from "./firewall-provider-refusal-contract.ts";
import {
  type FirewallDifferences,
  type FirewallProviderWorld,
  type InFirewallWorld,
  knownFirewall,
  plainly,
} from "./firewall-provider-world.ts";
import { firewallWriteContract } from "./firewall-provider-write-contract.ts";

export type { FirewallDifferences, FirewallProviderWorld } from "./firewall-provider-world.ts";

const office = { addresses: ["192.0.2.0/24"] };
const anybody = { addresses: ["0.0.0.0/0", "::/0"] };

/** A world without what its provider is like. */
export type FirewallPlace = Omit<FirewallProviderWorld, "differs">;

/**
 * Declares the tests that every FirewallProvider must pass, on a new world each: reads that are canonical and whole, writes that
 * add and remove and leave everything else alone, refusals that say what they are.
 */
export function firewallProviderContract(
  name: string,
  differs: FirewallDifferences,
  makeWorld: () => FirewallPlace | Promise<FirewallPlace>,
): void {
  function inWorld(
    title: string,
    body: (world: FirewallProviderWorld) => Promise<void>,
    only?: keyof FirewallDifferences,
  ): void {
    if (only !== undefined && differs[only] === false) return;
    test(title, async () => {
      const world = { ...(await makeWorld()), differs };
      try {
        await body(world);
      } finally {
        await world.dispose();
      }
    });
  }

  describe(`${name} as a firewall provider`, () => {
    describe("listFirewalls and getFirewall", () => reading(inWorld));
    describe("machinesWithTag", () => tagged(inWorld));
    firewallWriteContract(inWorld);
    firewallRefusalContract(inWorld);
  });
}

function reading(inWorld: InFirewallWorld): void {
  inWorld("show nothing when the account has no firewall", async ({ provider, differs }) => {
    expect(await provider.listFirewalls()).toEqual([]);
    expect(await provider.getFirewall(differs.unknownID)).toBeUndefined();
  });

  inWorld("show the same firewall, in canonical form", async ({ provider, seed, differs }) => {
    for (const machine of ["7", "42"]) seed.machine(machine);
    const id = seed.firewall({
      name: "web",
      rules: [
        { protocol: "udp", ports: "all", sources: anybody },
        { protocol: "tcp", ports: "22", sources: office },
        { protocol: "icmp", ports: "0", sources: anybody },
        { protocol: "tcp", ports: "8000-9000", sources: { ...anybody, tags: ["web"] } },
        { protocol: "tcp", ports: "80", sources: anybody },
      ],
      outboundRules: 2,
      machineIDs: ["7", "42"],
      tags: ["web", "k8s"],
    });
    const range = (from: number, to: number = from): object => ({ protocol: "tcp", from, to });
    const firewall = {
      id,
      name: "web",
      rules: [
        { ports: { protocol: "icmp", from: 0, to: 0 }, openTo: ["IPv4", "IPv6"], isPlain: true },
        { ports: range(22), openTo: [], isPlain: false },
        { ports: range(80), openTo: ["IPv4", "IPv6"], isPlain: true },
        { ports: range(8000, 9000), openTo: ["IPv4", "IPv6"], isPlain: false },
        // The provider's own form of all ports is not the one that flipop asks for.
        { ports: { protocol: "udp", from: 1, to: 65_535 }, openTo: ["IPv4", "IPv6"], isPlain: false },
      ],
      ruleCount: 7,
      machineIDs: ["42", "7"],
      tags: ["k8s", "web"],
      isWaiting: false,
      pendingMachineIDs: [],
      failedMachineIDs: [],
    };
    expect(plainly(await knownFirewall(provider, id))).toEqual(firewall);
    expect((await listed(provider)).map(plainly)).toEqual([firewall]);
    expect(await provider.getFirewall(differs.unknownID)).toBeUndefined();
  });

  inWorld(
    "give every firewall exactly once, by id, however many pages there are",
    async ({ provider, seed, calls, differs: { pageSize, readsFirst } }) => {
      const ids = Array.from({ length: 205 }, (_, at) => seed.firewall({ name: `f${at}` }));
      const all = await provider.listFirewalls();
      expect(all.map((firewall) => firewall.id)).toEqual(ids.toSorted());
      expect(calls()).toBe(Math.ceil(205 / pageSize) + (readsFirst ? 1 : 0));
    },
  );

  inWorld(
    "show several firewalls of one name",
    async ({ provider, seed }) => {
      seed.firewall({ name: "web" });
      seed.firewall({ name: "web" });
      expect((await provider.listFirewalls()).map((firewall) => firewall.name)).toEqual(["web", "web"]);
    },
    "sharesNames",
  );

  inWorld("count a change that was given up as settled", async ({ provider, seed }) => {
    const id = seed.firewall({ name: "web", hasFailed: true });
    expect(await knownFirewall(provider, id)).toMatchObject({ isWaiting: false, pendingMachineIDs: [] });
  });

  inWorld(
    "show no machines to a token that may not read droplets, and no tags without that right",
    async (world) => {
      const { provider, seed } = world;
      seed.machine("7");
      const id = seed.firewall({ name: "web", machineIDs: ["7"], tags: ["k8s"] });
      seed.scopes(["firewall:read", "tag:read"]);
      expect(await knownFirewall(provider, id)).toMatchObject({ machineIDs: [], tags: ["k8s"] });
      seed.scopes(["firewall:read", "droplet:read"]);
      expect(await knownFirewall(provider, id)).toMatchObject({ machineIDs: ["7"], tags: [] });
    },
    "hasScopes",
  );
}

/** The firewalls of the account but the one that machines are behind from the beginning. */
async function listed(provider: FirewallProvider): Promise<readonly Firewall[]> {
  return (await provider.listFirewalls()).filter(({ name }) => name !== "base");
}

function tagged(inWorld: InFirewallWorld): void {
  inWorld("has the machines of a tag, and none for an unknown tag", async ({ provider, seed }) => {
    seed.machine("7", ["k8s", "web"]);
    seed.machine("42", ["k8s"]);
    seed.machine("43", ["web"]);
    seed.machine("44");
    expect(await provider.machinesWithTag("k8s")).toEqual(new Set(["7", "42"]));
    expect(await provider.machinesWithTag("other")).toEqual(new Set());
  });

  inWorld(
    "minds no capital letters",
    async ({ provider, seed }) => {
      seed.machine("42", ["K8S"]);
      expect(await provider.machinesWithTag("k8s")).toEqual(new Set(["42"]));
    },
    "sharesNames",
  );

  inWorld("has them all, however many pages there are", async ({ provider, seed, calls, differs }) => {
    const ids = Array.from({ length: 203 }, (_, at) => String(at + 1));
    for (const id of ids) seed.machine(id, ["k8s"]);
    expect([...(await provider.machinesWithTag("k8s"))].sort()).toEqual(ids.toSorted());
    expect(calls()).toBe(Math.ceil(203 / differs.pageSize));
  });
}
