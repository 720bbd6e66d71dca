import { expect, test } from "vitest";
import type { Firewall, FirewallFact } from "../../src/model/firewall.ts";
import { readFirewalls } from "../../src/observe/firewalls.ts";
import type { FirewallProviderReader } from "../../src/ports/firewall-provider.ts";
import { NOW } from "../plan/builders.ts";
import { aFirewall, aRoutedIP, memoryOf } from "../plan/firewall-builders.ts";

/** Reads the firewall `web` of a RoutedIP that has tcp/80 and machine 101 on record there, from a list and single readings that may differ. */
async function read(
  listed: readonly Firewall[],
  single: Firewall | undefined,
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
    notBeforeMs: undefined,
    nowMs: NOW,
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
