import { expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import { changesFirewall, changesMachines } from "../../src/model/action-kinds.ts";
import type { Firewall, OtherFirewalls } from "../../src/model/firewall.ts";
import type { Observation } from "../../src/model/observation.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, known, NOW, nodes } from "./builders.ts";
import { aFirewall, aRoutedIP, firewallFacts, memoryOf, type RoutedParts } from "./firewall-builders.ts";
import { planText } from "./plan-text.ts";
import { randomWholeFirewallWorld } from "./random-firewall-world.ts";

// Firewalls of a provider that replaces them as a whole, and shows which other ones a machine is behind.

const A = "203.0.113.1";
const ONE: OtherFirewalls = { inForce: 1, pending: 0 };
const NONE: OtherFirewalls = { inForce: 0, pending: 0 };

/** How many other firewalls n1, n2 and so on are behind. */
function others(...all: readonly OtherFirewalls[]): Pick<Firewall, "othersAt"> {
  return { othersAt: new Map(all.map((one, at) => [String(101 + at), one])) };
}

function worldOf(
  firewall: Firewall,
  { count = 1, ...parts }: RoutedParts & { readonly count?: number } = {},
): Observation {
  return anObservation({
    pools: [aRoutedIP({ ...parts, spec: { ips: [A], ...parts.spec } })],
    nodes: nodes(count),
    addresses: [known(A)],
    firewalls: [firewallFacts([firewall])],
  });
}

/** Active on n1, which flipop put behind the firewall. */
const SERVING: RoutedParts = {
  status: {
    ips: { [A]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } },
    firewalls: [memoryOf(["tcp/80"], ["101"])],
  },
};

test("without its label nothing is planned at it, and nothing for an address that needs it", () => {
  const world = worldOf(aFirewall({ isUnlabelled: true, ...others(ONE) }));
  const { actions, holds } = plan(world, {});
  expect(actions).toEqual([]);
  expect(holds).toContainEqual(
    expect.objectContaining({
      kind: "open-ports",
      reason: "FirewallNotOwned",
      detail: "web has no label flipop.digitalocean.com/owned=true",
      needsPerson: true,
    }),
  );
});

test("a node that another firewall covers is put behind it", () => {
  expect(planText(worldOf(aFirewall(others(ONE))))).toEqual([
    "open-ports web: PortsClosed",
    "add-to-firewall web: NodeOutsideFirewall",
    `assign-ip ${A} to n1: NodeMatched`,
    `annotate-node n1 with ${A}: Verified`,
  ]);
});

test("a node behind no firewall gets the address, is not put behind its first firewall, and a person is told", () => {
  const world = worldOf(aFirewall(others(NONE)));
  expect(planText(world).filter((line) => !line.includes("NodeWithoutFirewall"))).toEqual([
    "open-ports web: PortsClosed",
    `assign-ip ${A} to n1: NodeMatched`,
    `annotate-node n1 with ${A}: Verified`,
  ]);
  expect(plan(world, {}).holds).toContainEqual(
    expect.objectContaining({ reason: "NodeWithoutFirewall", detail: "n1", needsPerson: true }),
  );
  expect(plan(world, {}).pools[0]?.status.firewalls).toEqual([memoryOf(["tcp/80"], [])]);
});

test.each([
  ["whose other firewall is not in force yet waits for it", others({ inForce: 0, pending: 1 }), "InProgress", false],
  ["that the provider does not list is not believed to be open", others(), "Unreadable", false],
  ["that has as many firewalls as it can have has no room", others({ inForce: 4, pending: 1 }), "FirewallFull", true],
  [
    "of a firewall with outgoing rules could lose what it sends",
    { ...others(ONE), limitsOutgoing: true },
    "FirewallNotOwned",
    true,
  ],
] as const)("a node %s", (_, firewall, reason, needsPerson) => {
  const facts = firewallFacts([aFirewall({ open: ["tcp/80"], ...firewall })]);
  const world = worldOf(aFirewall());
  const limited = { ...facts, limits: { rules: 50, machines: Number.POSITIVE_INFINITY, perMachine: 5 } };
  const { actions, holds } = plan({ ...world, firewalls: new Map([[facts.name, limited]]) }, {});
  expect(actions).toEqual([]);
  expect(holds).toContainEqual(expect.objectContaining({ kind: "open-ports", reason, needsPerson }));
});

test("of two nodes the one that can be put behind it gets the address", () => {
  expect(planText(worldOf(aFirewall(others({ inForce: 0, pending: 1 }, ONE)), { count: 2 }))).toContain(
    `assign-ip ${A} to n2: NodeMatched`,
  );
});

test("a node that is behind it already needs no other firewall", () => {
  const firewall = aFirewall({ open: ["tcp/80"], machineIDs: ["101"], limitsOutgoing: true, ...others(NONE) });
  expect(planText(worldOf(firewall))[0]).toBe(`assign-ip ${A} to n1: NodeMatched`);
});

/** The address goes from n1, which failed, to n2. */
function failover(firewall: Firewall): Observation {
  return anObservation({
    pools: [aRoutedIP({ ...SERVING, spec: { ips: [A] } })],
    nodes: [
      aNode({
        addressAnnotation: A,
        poolAnnotation: "routedip/ingress/vip",
        ready: { isReady: false, sinceMs: NOW - 60_000 },
      }),
      aNode({ name: "n2", droplet: 102 }),
    ],
    addresses: [known(A, { holderID: "101" })],
    firewalls: [firewallFacts([firewall])],
  });
}

test("the last firewall in force at a node stays there", () => {
  const firewall = aFirewall({ open: ["tcp/80"], machineIDs: ["101", "102"], ...others(NONE, ONE) });
  const { actions, holds } = plan(failover(firewall), {});
  expect(actions.map(({ kind }) => kind)).not.toContain("remove-from-firewall");
  expect(holds).toContainEqual(
    expect.objectContaining({ kind: "close-ports", reason: "LastFirewall", detail: "n1", needsPerson: true }),
  );
  const beside = aFirewall({ open: ["tcp/80"], machineIDs: ["101", "102"], ...others(ONE, ONE) });
  expect(plan(failover(beside), {}).actions.map(({ kind }) => kind)).toContain("remove-from-firewall");
});

test("what was added for an object that is deleted stays without the label, and the object waits", () => {
  const firewall = aFirewall({ open: ["tcp/80"], machineIDs: ["101"], isUnlabelled: true, ...others(ONE) });
  const parts: RoutedParts = { ...SERVING, isDeleting: true, spec: { reclaimPolicy: "Delete" } };
  const { actions, holds } = plan(worldOf(firewall, parts), {});
  expect(actions.filter(({ kind }) => kind === "close-ports" || kind === "remove-from-firewall")).toEqual([]);
  expect(holds).toContainEqual(expect.objectContaining({ kind: "close-ports", reason: "FirewallNotOwned" }));
});

/** The firewall with this id. @throws Error without it */
function firewallIn({ firewalls }: Observation, id: string): Firewall {
  const facts = [...firewalls.values()].flatMap((one) => [...one.firewalls.values()]);
  for (const fact of facts) if (fact.kind === "known" && fact.firewall.id === id) return fact.firewall;
  throw new Error(`there is no firewall ${id}`);
}

/** What is wrong with the actions of a plan at such firewalls: `SEED KIND MACHINE`. */
function wrongIn(world: Observation, actions: readonly Action[], seed: number): readonly string[] {
  return actions.flatMap((action) => {
    if (!changesFirewall(action)) return [];
    const firewall = firewallIn(world, action.firewall.id);
    if (firewall.isUnlabelled === true) return [`${seed} ${action.kind}`];
    if (!changesMachines(action)) return [];
    const isWrong = action.kind === "add-to-firewall" ? isUnfitFor(firewall) : isLastAt(firewall);
    return action.machines
      .filter(({ machineID }) => isWrong(machineID))
      .map(({ machineID }) => `${seed} ${action.kind} ${machineID}`);
  });
}

function isUnfitFor({ limitsOutgoing, othersAt }: Firewall): (machineID: string) => boolean {
  return (machineID) => {
    const { inForce, pending } = othersAt?.get(machineID) ?? NONE;
    return inForce === 0 || inForce + pending >= 5 || limitsOutgoing === true;
  };
}

/** A machine that the provider does not list is taken out. */
function isLastAt({ othersAt }: Firewall): (machineID: string) => boolean {
  return (machineID) => othersAt?.get(machineID)?.inForce === 0;
}

test("in any world no node gets its first firewall or loses its last, and no firewall without label changes", () => {
  const happened: string[] = [];
  const wrong = Array.from({ length: 500 }, (_, seed) => {
    const world = randomWholeFirewallWorld(seed);
    const { actions, holds } = plan(world, {});
    happened.push(...actions.map(({ kind }) => kind), ...holds.map(({ reason }) => reason));
    return wrongIn(world, actions, seed);
  });
  expect(wrong.flat()).toEqual([]);
  const often = ["add-to-firewall", "remove-from-firewall", "NodeWithoutFirewall", "LastFirewall", "FirewallNotOwned"];
  expect(often.filter((what) => happened.filter((one) => one === what).length < 5)).toEqual([]);
});
