import { describe, expect } from "vitest";
import { LAST_PORT, type PortRange, portText } from "../../src/model/firewall.ts";
import type { FirewallProvider } from "../../src/ports/providers.ts";
import { type InFirewallWorld, knownFirewall } from "./firewall-provider-world.ts";

const minuteMs = 60_000;
const anybody = { addresses: ["0.0.0.0/0", "::/0"] };
const http: PortRange = { protocol: "tcp", from: 80, to: 80 };
const https: PortRange = { protocol: "tcp", from: 443, to: 443 };
const every: readonly PortRange[] = [
  { protocol: "icmp", from: 0, to: 0 },
  { protocol: "tcp", from: 1, to: LAST_PORT },
  http,
  { protocol: "udp", from: 8000, to: 9000 },
];

/** Declares the tests of what is added to a firewall and removed from it. */
export function firewallWriteContract(inWorld: InFirewallWorld): void {
  describe("openPorts and closePorts", () => ports(inWorld));
  describe("closePorts among rules of others", () => othersRules(inWorld));
  describe("addMachines and removeMachines", () => machines(inWorld));
  describe("pendingMachineIDs", () => settling(inWorld));
}

/** `PORTS` of each rule, with `!` when it is not open to all and `~` when it is not plain. */
async function rulesOf(provider: FirewallProvider, id: string): Promise<readonly string[]> {
  const { rules } = await knownFirewall(provider, id);
  return rules.map((rule) => `${rule.openTo.length > 0 ? "" : "!"}${rule.isPlain ? "" : "~"}${portText(rule.ports)}`);
}

function ports(inWorld: InFirewallWorld): void {
  inWorld("open every kind of range as a plain rule that is read back as the same range", async (world) => {
    const { provider, seed } = world;
    const id = seed.firewall({ name: "web" });
    await provider.openPorts(id, every);
    expect((await knownFirewall(provider, id)).rules.map((rule) => rule.ports)).toEqual(every);
    expect(await rulesOf(provider, id)).toEqual(["icmp", "tcp/1-65535", "tcp/80", "udp/8000-9000"]);
    // Written as a whole: the firewall is read before, and its servers and actions are read with it.
    expect(world.calls()).toBe(world.differs.readsFirst ? 7 : 3);
    expect(world.writes()).toBe(1);
  });

  inWorld("close exactly what was opened, whatever the range", async ({ provider, seed }) => {
    const id = seed.firewall({ name: "web" });
    await provider.openPorts(id, every);
    for (const [at, range] of every.entries()) {
      await provider.closePorts(id, [range]);
      expect((await knownFirewall(provider, id)).rules.map((rule) => rule.ports)).toEqual(every.slice(at + 1));
    }
  });

  inWorld("change nothing when they are called again", async ({ provider, seed }) => {
    const id = seed.firewall({ name: "web" });
    for (let count = 0; count < 2; count += 1) await provider.openPorts(id, [http, https]);
    expect(await rulesOf(provider, id)).toEqual(["tcp/443", "tcp/80"]);
    expect((await knownFirewall(provider, id)).ruleCount).toBe(2);
    for (let count = 0; count < 2; count += 1) await provider.closePorts(id, [http]);
    expect(await rulesOf(provider, id)).toEqual(["tcp/443"]);
  });

  inWorld("send nothing when there is nothing to change", async (world) => {
    const id = world.seed.firewall({ name: "web" });
    await world.provider.openPorts(id, []);
    await world.provider.closePorts(id, []);
    expect(world.calls()).toBe(0);
  });
}

function othersRules(inWorld: InFirewallWorld): void {
  const others = [
    { protocol: "tcp", ports: "80", sources: { addresses: ["192.0.2.0/24"] } },
    { protocol: "tcp", ports: "80", sources: { addresses: ["0.0.0.0/0"] } },
    { protocol: "tcp", ports: "80", sources: { ...anybody, tags: ["web"] } },
    { protocol: "udp", ports: "80", sources: anybody },
    { protocol: "tcp", ports: "80-81", sources: anybody },
    { protocol: "tcp", ports: "0", sources: anybody },
  ] as const;

  inWorld("leaves every rule that is not exactly the one that was opened", async ({ provider, seed }) => {
    const id = seed.firewall({ name: "web", rules: others, outboundRules: 3, tags: ["k8s"] });
    const before = await knownFirewall(provider, id);
    await provider.openPorts(id, [http]);
    expect((await knownFirewall(provider, id)).ruleCount).toBe(others.length + 3 + 1);
    await provider.closePorts(id, [http, https, { protocol: "tcp", from: 1, to: LAST_PORT }]);
    expect(await knownFirewall(provider, id)).toEqual(before);
  });

  inWorld("leaves other firewalls alone", async ({ provider, seed }) => {
    const id = seed.firewall({ name: "web", rules: [{ protocol: "tcp", ports: "80", sources: anybody }] });
    const other = seed.firewall({ name: "other", rules: [{ protocol: "tcp", ports: "80", sources: anybody }] });
    const before = await knownFirewall(provider, other);
    await provider.openPorts(id, [https]);
    await provider.closePorts(id, [http]);
    expect(await rulesOf(provider, id)).toEqual(["tcp/443"]);
    expect(await knownFirewall(provider, other)).toEqual(before);
  });
}

function machines(inWorld: InFirewallWorld): void {
  inWorld("add to the machines that are there, and remove the named ones alone", async ({ provider, seed }) => {
    for (const machine of ["7", "42", "43"]) seed.machine(machine);
    const rules = [{ protocol: "tcp", ports: "80", sources: anybody }] as const;
    const id = seed.firewall({ name: "web", rules, machineIDs: ["7"], tags: ["k8s"], outboundRules: 1 });
    const before = await knownFirewall(provider, id);
    await provider.addMachines(id, ["42", "43"]);
    expect((await knownFirewall(provider, id)).machineIDs).toEqual(["42", "43", "7"]);
    await provider.removeMachines(id, ["43"]);
    expect((await knownFirewall(provider, id)).machineIDs).toEqual(["42", "7"]);
    await provider.removeMachines(id, ["42"]);
    await seed.advance(minuteMs);
    expect(await knownFirewall(provider, id)).toEqual(before);
  });

  inWorld("mind neither a machine that is there already nor one that is not attached", async ({ provider, seed }) => {
    for (const machine of ["7", "42"]) seed.machine(machine);
    const id = seed.firewall({ name: "web", machineIDs: ["7"] });
    await provider.addMachines(id, ["7"]);
    await provider.removeMachines(id, ["42"]);
    expect((await knownFirewall(provider, id)).machineIDs).toEqual(["7"]);
  });

  inWorld("send nothing when there is nothing to change", async (world) => {
    const id = world.seed.firewall({ name: "web" });
    await world.provider.addMachines(id, []);
    await world.provider.removeMachines(id, []);
    expect(world.calls()).toBe(0);
  });
}

function settling(inWorld: InFirewallWorld): void {
  inWorld("are those of a change until the machines have it, in the list as well", async ({ provider, seed }) => {
    seed.machine("7");
    seed.machine("42");
    const id = seed.firewall({ name: "web", machineIDs: ["7", "42"] });
    await provider.openPorts(id, [http]);
    const pending = { isWaiting: false, pendingMachineIDs: ["42", "7"], failedMachineIDs: [] };
    expect(await knownFirewall(provider, id)).toMatchObject({ ...pending, rules: [{ isPlain: true }] });
    expect((await provider.listFirewalls()).find((firewall) => firewall.id === id)).toMatchObject(pending);
    await seed.advance(minuteMs);
    expect(await knownFirewall(provider, id)).toMatchObject({ isWaiting: false, pendingMachineIDs: [] });
  });

  inWorld("name a machine that is added, and one that is removed, and no other", async ({ provider, seed }) => {
    seed.machine("7");
    seed.machine("42");
    const id = seed.firewall({ name: "web", machineIDs: ["42"] });
    for (const change of ["addMachines", "removeMachines"] as const) {
      await provider[change](id, ["7"]);
      expect(await knownFirewall(provider, id)).toMatchObject({ isWaiting: false, pendingMachineIDs: ["7"] });
      await seed.advance(minuteMs);
      expect(await knownFirewall(provider, id)).toMatchObject({ isWaiting: false, pendingMachineIDs: [] });
    }
  });

  inWorld("name machines that are covered by a tag as well", async ({ provider, seed }) => {
    seed.machine("7", ["k8s"]);
    const id = seed.firewall({ name: "web", tags: ["k8s"] });
    await provider.openPorts(id, [http]);
    expect((await knownFirewall(provider, id)).pendingMachineIDs).toEqual(["7"]);
  });
}
