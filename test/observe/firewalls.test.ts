import { expect, test } from "vitest";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import type { Firewall, FirewallFact } from "../../src/model/firewall.ts";
import { readFirewalls } from "../../src/observe/firewalls.ts";
import { ReusableFacts } from "../../src/observe/reusable-facts.ts";
import type { FirewallProviderReader } from "../../src/ports/providers.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { anObservation, NOW, nodes } from "../plan/builders.ts";
import { aFirewall, aRoutedIP, firewallFacts, memoryOf } from "../plan/firewall-builders.ts";

/** Reads the firewall `web` of a RoutedIP that has tcp/80 and machine 101 on record there, from a list and single readings that may differ. */
async function read(
  listed: readonly Firewall[],
  single: Firewall | undefined,
  reusable?: ReusableFacts,
): Promise<{ readonly fact: FirewallFact | undefined; readonly calls: readonly string[] }> {
  const calls: string[] = [];
  const provider: FirewallProviderReader = {
    name: "digitalocean",
    firewallLimits: { rules: 50, machines: 10 },
    listFirewalls: async () => {
      calls.push("list");
      return listed;
    },
    getFirewall: async (id) => {
      calls.push(`get ${id}`);
      return single;
    },
    machinesWithTag: async () => new Set<string>(),
  };
  const facts = await readFirewalls({
    name: "digitalocean",
    access: { kind: "usable", provider },
    pools: [aRoutedIP({ status: { firewalls: [memoryOf(["tcp/80"], ["101"])] } })],
    reusable,
    notBeforeMs: undefined,
    nowMs: NOW,
    registry: PROVIDERS,
    skewMs: () => 0,
  });
  return { fact: facts?.firewalls.get("web"), calls };
}

const WHOLE = aFirewall({ open: ["tcp/80"], machineIDs: ["101"] });

test("a list that shows all that is on record is enough", async () => {
  const { fact, calls } = await read([WHOLE], undefined);
  expect(calls).toEqual(["list"]);
  expect(fact).toMatchObject({ kind: "known", firewall: WHOLE });
});

test.each([
  ["a port", aFirewall({ machineIDs: ["101"] })],
  ["a machine", aFirewall({ open: ["tcp/80"] })],
])(
  "%s on record that a list does not show is not given up before the firewall was read by itself",
  async (_, listed) => {
    const { fact, calls } = await read([listed], WHOLE);
    expect(calls).toEqual(["list", "get fw-web"]);
    expect(fact).toMatchObject({ kind: "known", firewall: WHOLE });
  },
);

test("a firewall that a list shows and a single reading does not is as the list has it, in doubt about what is on record", async () => {
  const { fact } = await read([aFirewall({})], undefined);
  expect(fact).toMatchObject({ kind: "gap" });
});

/** n1 on machine 101 is ready, n2 on machine 102 is not. */
const ONE_READY = nodes(2).map((node, at) => (at === 0 ? node : { ...node, ready: { isReady: false } }));

test.each([
  ["in force everywhere", WHOLE, []],
  ["pending for a machine without a node", { ...WHOLE, pendingMachineIDs: ["999"] }, []],
  ["pending for the machine of a node that is not ready", { ...WHOLE, pendingMachineIDs: ["102"] }, []],
  ["pending for the machine of a ready node", { ...WHOLE, pendingMachineIDs: ["101", "102"] }, ["list"]],
  ["waiting as a whole", { ...WHOLE, isWaiting: true }, ["list"]],
] as const)(
  "a firewall that the last pass left %s is read again soon only where that may matter",
  async (_, left, expected) => {
    const clock = new FakeClock();
    const reusable = new ReusableFacts(clock);
    const world = anObservation({ nodes: ONE_READY, firewalls: [firewallFacts([left])] });
    reusable.keep(world);
    expect((await read([WHOLE], WHOLE, reusable)).calls).toEqual([]);
    await clock.advance(1000);
    expect((await read([WHOLE], WHOLE, reusable)).calls).toEqual(expected);
  },
);

test("a change of another machine has waits of its own, the same one again goes on with those it had", async () => {
  const clock = new FakeClock();
  const reusable = new ReusableFacts(clock);
  const nextDueInMs = (firewall: Firewall): number | undefined => {
    reusable.keep(anObservation({ nodes: nodes(3), firewalls: [firewallFacts([firewall])] }));
    return reusable.nextDueInMs();
  };
  const pendingFor = (...pendingMachineIDs: readonly string[]): Firewall => ({ ...WHOLE, pendingMachineIDs });
  const waits: (number | undefined)[] = [];
  for (let look = 0; look < 4; look += 1) {
    waits.push(nextDueInMs(pendingFor("101", "102")));
    await clock.advance(waits.at(-1) ?? 0);
  }
  waits.push(nextDueInMs(WHOLE), nextDueInMs(pendingFor("102")));
  waits.push(nextDueInMs(WHOLE), nextDueInMs(pendingFor("103")));
  expect(waits).toEqual([250, 500, 1000, 2000, undefined, 4000, undefined, 250]);
});
