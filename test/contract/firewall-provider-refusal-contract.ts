import { describe, expect } from "vitest";
import type { ProviderFailure } from "../../src/model/errors.ts";
import type { PortRange } from "../../src/model/firewall.ts";
import type { FirewallProvider } from "../../src/ports/providers.ts";
import { expectRefusal } from "./expect-refusal.ts";
import { type InFirewallWorld, knownFirewall } from "./firewall-provider-world.ts";

const http: PortRange = { protocol: "tcp", from: 80, to: 80 };
const https: PortRange = { protocol: "tcp", from: 443, to: 443 };

const writes = [
  ["open-ports", (provider: FirewallProvider, id: string) => provider.openPorts(id, [http])],
  ["close-ports", (provider: FirewallProvider, id: string) => provider.closePorts(id, [https])],
  ["add-machines", (provider: FirewallProvider, id: string) => provider.addMachines(id, ["7"])],
  ["remove-machines", (provider: FirewallProvider, id: string) => provider.removeMachines(id, ["42"])],
] as const;

const world = {
  name: "web",
  rules: [{ protocol: "tcp", ports: "443", sources: { addresses: ["0.0.0.0/0", "::/0"] } }],
  machineIDs: ["42"],
} as const;

/** Declares the tests of calls that are refused, and of writes whose answer is lost. */
export function firewallRefusalContract(inWorld: InFirewallWorld): void {
  for (const [operation, write] of writes) {
    describe(`${operation} that fails`, () => failing(inWorld, operation, write));
  }
  describe("limits and rights", () => limits(inWorld));
}

function failing(
  inWorld: InFirewallWorld,
  operation: string,
  write: (provider: FirewallProvider, id: string) => Promise<void>,
): void {
  inWorld("is not found when the firewall is gone, and leaves others alone", async ({ provider, seed, differs }) => {
    for (const machine of ["7", "42"]) seed.machine(machine);
    const id = seed.firewall(world);
    const removed = seed.firewall({ name: "other" });
    seed.removal(removed);
    const before = await knownFirewall(provider, id);
    for (const subject of [differs.unknownID, removed]) {
      await expectRefusal(write(provider, subject), "not-found", { provider: provider.name, operation, subject });
    }
    expect(await knownFirewall(provider, id)).toEqual(before);
  });

  inWorld(
    "is forbidden without the scope, which it names, and changes nothing",
    async ({ provider, seed, differs }) => {
      for (const machine of ["7", "42"]) seed.machine(machine);
      const id = seed.firewall(world);
      const before = await knownFirewall(provider, id);
      seed.scopes(["firewall:read", "droplet:read", "tag:read"]);
      await expectRefusal(write(provider, id), "forbidden", { provider: provider.name, operation, subject: id });
      await expect(write(provider, id)).rejects.toThrow(differs.writeAdvice);
      expect(await knownFirewall(provider, id)).toEqual(before);
    },
  );

  for (const hasEffect of [false, true]) {
    inWorld(`leaves open whether it took effect when its answer is lost (it did: ${hasEffect})`, async (account) => {
      const { provider, seed } = account;
      for (const machine of ["7", "42"]) seed.machine(machine);
      const id = seed.firewall(world);
      const before = await knownFirewall(provider, id);
      account.failWrite({ hasEffect });
      const error: unknown = await write(provider, id).catch((reason: unknown) => reason);
      const facts = { failure: "unavailable", operation, subject: id, isAmbiguous: true, provider: provider.name };
      expect(error).toMatchObject(facts);
      expect(account.writes()).toBe(1);
      await seed.advance(60_000);
      if (!hasEffect) expect(await knownFirewall(provider, id)).toEqual(before);
      else expect(await knownFirewall(provider, id)).not.toEqual(before);
      await write(provider, id);
    });
  }
}

function limits(inWorld: InFirewallWorld): void {
  inWorld("more rules than a firewall may hold are refused, and none is added", async ({ provider, seed }) => {
    const { rules: most } = provider.firewallLimits;
    const id = seed.firewall({ name: "web", outboundRules: most - 1 });
    await expectRefusal(provider.openPorts(id, [http, https]), "refused", {
      provider: provider.name,
      operation: "open-ports",
      subject: id,
    });
    expect((await knownFirewall(provider, id)).ruleCount).toBe(most - 1);
    await provider.openPorts(id, [http]);
    expect((await knownFirewall(provider, id)).ruleCount).toBe(most);
  });

  inWorld(
    "more machines than a firewall may hold are refused, and none is added",
    async ({ provider, seed }) => {
      const { machines: most } = provider.firewallLimits;
      const ids = Array.from({ length: most + 1 }, (_, at) => String(at + 1));
      for (const machine of ids) seed.machine(machine);
      const id = seed.firewall({ name: "web", machineIDs: ids.slice(0, most - 1) });
      const call = provider.addMachines(id, ids.slice(most - 1));
      await expectRefusal(call, "refused", { provider: provider.name, operation: "add-machines", subject: id });
      expect((await knownFirewall(provider, id)).machineIDs).toHaveLength(most - 1);
      await provider.addMachines(id, ids.slice(most - 1, most));
      expect((await knownFirewall(provider, id)).machineIDs).toHaveLength(most);
    },
    "limitsMachines",
  );

  inWorld("a machine that does not exist is not found, and none is added", async ({ provider, seed }) => {
    seed.machine("7");
    const id = seed.firewall({ name: "web" });
    await expectRefusal(provider.addMachines(id, ["7", "4711"]), "not-found", {
      provider: provider.name,
      operation: "add-machines",
      subject: id,
    });
    expect((await knownFirewall(provider, id)).machineIDs).toEqual([]);
  });

  for (const [scope, operation, read] of [
    ["firewall:read", "firewalls", (provider: FirewallProvider) => provider.listFirewalls()],
    ["firewall:read", "firewall", (provider: FirewallProvider, unknown: string) => provider.getFirewall(unknown)],
    ["droplet:read", "tagged-machines", (provider: FirewallProvider) => provider.machinesWithTag("k8s")],
    ["tag:read", "tagged-machines", (provider: FirewallProvider) => provider.machinesWithTag("k8s")],
  ] as const) {
    inWorld(
      `${operation} without ${scope} is forbidden, never empty, and names it`,
      async ({ provider, seed, differs }) => {
        const every = ["firewall:read", "firewall:update", "droplet:read", "tag:read"];
        seed.scopes(every.filter((item) => item !== scope));
        const error: unknown = await read(provider, differs.unknownID).catch((reason: unknown) => reason);
        expect(error).toMatchObject({ failure: "forbidden" satisfies ProviderFailure, operation, status: 403 });
        expect(String(error)).toContain(scope);
      },
      "hasScopes",
    );
  }

  inWorld(
    "after a 429 no call reaches the account until its time",
    async ({ provider, seed, calls, differs: { readsFirst } }) => {
      const id = seed.firewall({ name: "web" });
      seed.callsPerMinute(1);
      await provider.machinesWithTag("k8s");
      for (let count = 0; count < 3; count += 1) {
        for (const [operation, write] of writes) {
          const refused = { provider: provider.name, operation: readsFirst ? "firewall" : operation, subject: id };
          await expectRefusal(write(provider, id), "rate-limited", refused);
        }
      }
      await expect(provider.getFirewall(id)).rejects.toMatchObject({ failure: "rate-limited" });
      await expect(provider.machinesWithTag("k8s")).rejects.toMatchObject({ failure: "rate-limited" });
      expect(calls()).toBe(1);
      await seed.advance(60_000);
      expect(await provider.machinesWithTag("k8s")).toEqual(new Set());
    },
  );
}
