import { describe, expect, test } from "vitest";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { LossCase, Simulation } from "../../src/model/simulation.ts";
import { editWorld } from "../../src/rehearse/edited-world.ts";
import { ASSUMED, forward } from "../../src/rehearse/forward.ts";
import { type LossKind, simulateLosses } from "../../src/rehearse/losses.ts";
import { drainOf, rollingUpgradeOf, type UpgradePace } from "../../src/rehearse/scenarios.ts";
import { simulate } from "../../src/rehearse/simulate.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderSimulation } from "../../src/report/text/simulation.ts";
import { aNode, anObservation, aPool, known } from "../plan/builders.ts";
import { aRecordSet, dnsFacts, WWW } from "../plan/dns-builders.ts";

const TERMS = { horizonMs: 60 * 60_000, assumed: ASSUMED };
const TIMES = { nodeReadyMs: 120_000, drainMs: 30_000 };
const IPS = ["203.0.113.1", "203.0.113.2"];
const ZONE = "topology.kubernetes.io/zone";

/** Two addresses under www.example.com on n1 and n2, `nodes` nodes in two zones, all of them under nodes.example.com. */
function world(nodes: number, change: (node: NodeFacts) => NodeFacts = (node) => node): Observation {
  const unsettled = anObservation({
    pools: [aPool({ spec: { ips: IPS, dnsRecordSet: WWW } })],
    recordSets: [aRecordSet()],
    nodes: Array.from({ length: nodes }, (_, at) =>
      change(
        aNode({
          name: `n${at + 1}`,
          droplet: 101 + at,
          labels: { "topology.kubernetes.io/region": "nyc3", [ZONE]: at % 2 === 0 ? "a" : "b", "node-pool": "edge" },
          addresses: [{ type: "ExternalIP", address: `192.0.2.${at + 1}` }],
        }),
      ),
    ),
    addresses: IPS.map((ip) => known(ip)),
    dns: [dnsFacts({ "www.example.com": [], "nodes.example.com": [] })],
  });
  return forward(unsettled, {}, { horizonMs: TERMS.horizonMs }).world;
}

/** `t+30 n1 is gone`, and what is done: `t+30 move-ip 203.0.113.1`. Annotations aside. */
function lines({ steps, observedAtMs }: Simulation): readonly string[] {
  return steps.flatMap(({ atMs, event, actions }) => [
    ...(event === undefined ? [] : [`t+${(atMs - observedAtMs) / 1000} ${event}`]),
    ...actions.flatMap((action) => {
      if ("nodeName" in action) return [];
      const [kind, , ...subject] = action.id.split(" ");
      const to = action.kind === "move-ip" || action.kind === "assign-ip" ? ` to ${action.after.nodeName}` : "";
      return [`t+${(atMs - observedAtMs) / 1000} ${kind} ${subject.join(" ")}${to}`];
    }),
  ]);
}

function events({ steps, observedAtMs }: Simulation): readonly string[] {
  return steps.flatMap(({ atMs, event }) => (event === undefined ? [] : [`${(atMs - observedAtMs) / 1000} ${event}`]));
}

describe("the drain of a node", () => {
  test("moves its address as a relocation, until its machine is gone", () => {
    const before = world(3);
    const told = simulate(before, {}, { ...TERMS, scenario: drainOf(before, "n1", TIMES) });
    expect(lines(told)).toEqual([
      "t+0 n1 is cordoned",
      "t+0 update-dns nodes.example.com digitalocean",
      "t+0 update-dns www.example.com digitalocean",
      "t+30 n1 has lost its pods, and is gone",
      "t+30 assign-ip 203.0.113.1 to n3",
      "t+40 update-dns www.example.com digitalocean",
    ]);
    expect(told.moves).toEqual({ made: 1, needed: 1, again: [] });
    expect(told.assumed).toMatchObject({ drainMs: 30_000 });
  });

  test("that takes longer than resolvers remember hurts nobody for longer than a move", () => {
    const before = world(3);
    const slow = { ...TIMES, drainMs: 120_000 };
    const told = simulate(before, {}, { ...TERMS, scenario: drainOf(before, "n1", slow) });
    expect(told.names.map(({ fqdn, unservedMs, dead }) => [fqdn, unservedMs, dead])).toEqual([
      ["nodes.example.com", 0, undefined],
      ["www.example.com", 0, undefined],
    ]);
  });

  test("that is not there names the nearest one", () => {
    expect(() => drainOf(world(12), "n13", TIMES)).toThrow("There is no node named n13 to drain. Did you mean n1?");
  });
});

function upgraded(before: Observation, pace: UpgradePace, selector = "node-pool=edge"): Simulation {
  return simulate(before, {}, { ...TERMS, scenario: rollingUpgradeOf(before, selector, pace, TIMES) });
}

describe("a rolling upgrade", () => {
  test("with one node more: each new node comes before an old one goes", () => {
    expect(events(upgraded(world(2), { surge: 1, unavailable: 0 }))).toEqual([
      "120 n1-new is ready",
      "120 n1 is cordoned",
      "150 n1 has lost its pods, and is gone",
      "270 n2-new is ready",
      "270 n2 is cordoned",
      "300 n2 has lost its pods, and is gone",
    ]);
  });

  test("with one node less: each old node goes before its successor comes, which is like it all the same", () => {
    const told = upgraded(world(2), { surge: 0, unavailable: 1 });
    expect(events(told)).toEqual([
      "0 n1 is cordoned",
      "30 n1 has lost its pods, and is gone",
      "150 n1-new is ready",
      "150 n2 is cordoned",
      "180 n2 has lost its pods, and is gone",
      "300 n2-new is ready",
    ]);
    expect(told.moves.made).toBeGreaterThanOrEqual(2);
    expect(told.names.map(({ isUnservedAtEnd }) => isUnservedAtEnd)).toEqual([false, false]);
  });

  const paces = [1, 3, 5].flatMap((nodes) =>
    [0, 1, 2, 7].flatMap((surge) => [0, 1, 3, 9].map((unavailable) => ({ nodes, surge, unavailable }))),
  );

  test.for(paces.filter(({ surge, unavailable }) => surge + unavailable > 0))(
    "of %o never has more or fewer nodes than it may",
    ({ nodes, surge, unavailable }) => {
      const told = events(upgraded(world(nodes), { surge, unavailable }));
      const count = (upTo: number, what: string): number =>
        told.slice(0, upTo).filter((line) => line.includes(what)).length;
      for (let upTo = 0; upTo <= told.length; upTo += 1) {
        const [ready, cordoned, gone] = [count(upTo, "is ready"), count(upTo, "is cordoned"), count(upTo, "is gone")];
        expect(nodes + ready - gone).toBeLessThanOrEqual(nodes + surge);
        expect(nodes + ready - cordoned).toBeGreaterThanOrEqual(nodes - unavailable);
      }
      expect([count(told.length, "is ready"), count(told.length, "is gone")]).toEqual([nodes, nodes]);
    },
  );

  test("ends on new nodes only, and tells their addresses by their names", () => {
    const told = upgraded(world(3), { surge: 1, unavailable: 0 });
    const text = JSON.stringify(told.steps);
    expect(text).not.toMatch(/"240\./);
    expect(text).toContain("(of n1-new)");
    const places = new Map<string, string>();
    for (const action of told.steps.flatMap(({ actions }) => actions))
      if (action.kind === "move-ip" || action.kind === "assign-ip") places.set(action.ip, action.after.nodeName);
    expect([...places.values()].every((place) => place.endsWith("-new"))).toBe(true);
    expect(told.names.map(({ fqdn, unservedMs }) => [fqdn, unservedMs])).toEqual([
      ["nodes.example.com", 0],
      ["www.example.com", 0],
    ]);
  });

  test("replaces only what is selected, and gives new nodes names that are free", () => {
    const before = world(3, (node) => (node.name === "n3" ? { ...node, name: "n2-new", labels: {} } : node));
    expect(events(upgraded(before, { surge: 1, unavailable: 0 }))).toContain("270 n2-new2 is ready");
    expect(events(upgraded(before, { surge: 1, unavailable: 0 }, `${ZONE}=a`))).toHaveLength(3);
  });

  test.for([
    ["node-pool=core", "--rolling-upgrade node-pool=core selects no node."],
    ["node-pol=edge", "--rolling-upgrade node-pol=edge selects no node. Did you mean the label node-pool?"],
    ["a=b=c", "Cannot read the label selector 'a=b=c' of --rolling-upgrade"],
  ] as const)("%s is refused", ([selector, message]) => {
    expect(() => upgraded(world(2), { surge: 1, unavailable: 0 }, selector)).toThrow(message);
  });

  test("that can replace nothing is refused", () => {
    expect(() => upgraded(world(2), { surge: 0, unavailable: 0 })).toThrow("no node can be replaced");
  });
});

function lost(before: Observation, by: LossKind = "node"): Simulation {
  const losses = simulateLosses(before, {}, { ...TERMS, by });
  for (;;) {
    const next = losses.next();
    if (next.done === true) return next.value;
    expect(next.value.done).toBeLessThanOrEqual(next.value.of);
  }
}

function row({ lost: what, moves, names, spareNodes }: LossCase): string {
  const dead = names.map((name) => `${name.fqdn} ${name.dead?.dead}/${name.dead?.of} ${(name.dead?.ms ?? 0) / 1000}`);
  return [what, moves, ...dead, spareNodes].join(", ");
}

describe("the loss of each node in turn", () => {
  test("tells moves, dead answers and spare nodes; what carries nothing is one row", () => {
    const down = (node: NodeFacts): NodeFacts =>
      node.name > "n3" ? { ...node, taints: [{ key: "dedicated", value: "db", effect: "NoSchedule" }] } : node;
    expect(lost(world(5, down)).cases?.map(row)).toEqual([
      "n1, 1, nodes.example.com 1/3 61, www.example.com 1/2 10, 0",
      "n2, 1, nodes.example.com 1/3 61, www.example.com 1/2 10, 0",
      "n3, 0, nodes.example.com 1/3 61, 0",
      "2 others, 0, 1",
    ]);
  });

  test("of a zone: all of its nodes at once; nodes without the label are a zone, too", () => {
    const bare = (node: NodeFacts): NodeFacts =>
      node.name === "n4" ? { ...node, labels: { "topology.kubernetes.io/region": "nyc3" } } : node;
    expect(lost(world(4, bare), "zone").cases?.map(({ lost: what, nodes }) => [what, nodes])).toEqual([
      [`(no ${ZONE})`, ["n4"]],
      ["a", ["n1", "n3"]],
      ["b", ["n2"]],
    ]);
    const regions = lost(world(4), "region").cases;
    expect(regions).toMatchObject([
      { lost: "nyc3", moves: 0, names: [{ isUnservedAtEnd: true }, { isUnservedAtEnd: true }] },
    ]);
  });

  test("is the same as losing the node really: the same actions from the world in which it is lost", () => {
    const before = world(5);
    for (const one of lost(before).cases ?? []) {
      if (!one.isRehearsed) continue;
      const without = one.nodes.reduce(
        (now, node) => editWorld(now, [{ kind: "node-state", text: "", node, state: "NotReady" }]),
        before,
      );
      const { steps } = forward(without, {}, { horizonMs: TERMS.horizonMs });
      const moved = steps
        .flatMap(({ actions }) => actions)
        .filter(({ kind }) => kind === "move-ip" || kind === "assign-ip");
      expect(one.moves, one.lost).toBe(moved.length);
    }
  });

  test("of many nodes that differ in their names alone rehearses one, which stands for all", () => {
    const dedicated = (node: NodeFacts): NodeFacts =>
      node.name === "n9" ? { ...node, taints: [{ key: "dedicated", value: "db", effect: "NoSchedule" }] } : node;
    const cases = lost(world(9, dedicated)).cases ?? [];
    expect(cases.map(({ lost: what, losses, nodes }) => [what, losses, nodes.length])).toEqual([
      ["n1", 1, 1],
      ["n2", 1, 1],
      ["6 like n3", 6, 6],
      ["n9", 1, 1],
    ]);
    // The ninth node serves no name: what it shows is the rest of the others.
    expect(cases[2]?.nodes).toEqual(["n3", "n4", "n5", "n6", "n7", "n8"]);
    expect(cases[2]).toMatchObject({
      moves: 0,
      names: [{ fqdn: "nodes.example.com", dead: { dead: 1, of: 8, ms: 61_000 } }],
    });
  });

  test("begins where flipop has done what is due anyway", () => {
    const before = world(3);
    const due = {
      ...before,
      nodes: before.nodes.map(({ addressAnnotation: _, poolAnnotation: _pool, ...node }) => node),
    };
    const told = lost(due);
    expect(told.steps.flatMap(({ actions }) => actions.map(({ kind }) => kind))).toEqual([
      "annotate-node",
      "annotate-node",
    ]);
    expect(told.cases?.map(row)).toEqual(lost(before).cases?.map(row));
  });

  test("is not to blame for a name that has no service without it", () => {
    const before = world(3);
    const down = ["n1", "n2", "n3"].reduce(
      (now, node) => editWorld(now, [{ kind: "node-state", text: "", node, state: "NotReady" }]),
      before,
    );
    const told = lost(down);
    expect(told.names.map(({ fqdn, isUnservedAtEnd }) => [fqdn, isUnservedAtEnd])).toContainEqual([
      "www.example.com",
      true,
    ]);
    expect(told.cases?.flatMap(({ names }) => names.map(({ fqdn }) => fqdn))).not.toContain("www.example.com");
    const text = renderSimulation(told, { palette: PLAIN, width: 120, wide: false });
    expect(text).toContain("have no service.\nNo other name loses service.\n");
  });

  test("is the same each time", () => {
    const before = world(4);
    expect(lost(before)).toEqual(lost(before));
  });
});
