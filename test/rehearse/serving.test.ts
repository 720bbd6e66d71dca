import { describe, expect, test } from "vitest";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { NameFate, Simulation } from "../../src/model/simulation.ts";
import { type FactEdit, parseEdit } from "../../src/rehearse/edit.ts";
import { editWorld } from "../../src/rehearse/edited-world.ts";
import { ASSUMED, type Assumed, forward, type Happening } from "../../src/rehearse/forward.ts";
import { simulate } from "../../src/rehearse/simulate.ts";
import { aNode, anObservation, aPool, known } from "../plan/builders.ts";
import { aRecordSet, dnsFacts, WWW } from "../plan/dns-builders.ts";

const HORIZON_MS = 60 * 60_000;
const IPS = ["203.0.113.1", "203.0.113.2", "203.0.113.3"];
const FIRST = "203.0.113.1";

function fact(text: string): FactEdit {
  const edit = parseEdit(text, { duration: () => undefined, yaml: () => undefined });
  if (edit.kind === "object") throw new Error(text);
  return edit;
}

/** `5 node/n1=NotReady`: seconds, and what happens then. */
function happening(line: string): Happening {
  const [seconds = "", text = ""] = line.split(" ");
  return { afterMs: Number(seconds) * 1000, text, happen: (world) => editWorld(world, [fact(text)]) };
}

function simulated(world: Observation, lines: readonly string[], assumed: Assumed = ASSUMED): Simulation {
  const happenings = lines.map(happening);
  const scenario = { text: "it goes on", happenings, assumed: {} };
  return simulate(rested(world), {}, { horizonMs: HORIZON_MS, assumed, scenario });
}

/** The world once everything that it asks for is done. */
function rested(world: Observation): Observation {
  const { world: after, isAtRest } = forward(world, {}, { horizonMs: HORIZON_MS });
  expect(isAtRest).toBe(true);
  return after;
}

/** `dead 1/3 for 10 s`, `no service for 10 s`, `no service in the end`. */
function told({ unservedMs, isUnservedAtEnd, dead }: NameFate): string {
  const lasting = (isLasting: boolean, ms: number): string => (isLasting ? "in the end" : `for ${ms / 1000} s`);
  const unserved = isUnservedAtEnd || unservedMs > 0 ? [`no service ${lasting(isUnservedAtEnd, unservedMs)}`] : [];
  const answers = dead === undefined ? [] : [`dead ${dead.dead}/${dead.of} ${lasting(dead.isLasting, dead.ms)}`];
  return [...answers, ...unserved].join(", ");
}

function fates({ names }: Simulation): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name.fqdn, told(name)]));
}

const machines = (count: number): NodeFacts[] =>
  Array.from({ length: count }, (_, at) =>
    aNode({
      name: `n${at + 1}`,
      droplet: 101 + at,
      addresses: [{ type: "ExternalIP", address: `192.0.2.${at + 1}` }],
    }),
  );

/** A pool of so many addresses under www.example.com, on so many nodes. */
function pooled(addresses: number, nodes: number): Observation {
  const ips = IPS.slice(0, addresses);
  return anObservation({
    pools: [aPool({ spec: { ips, dnsRecordSet: WWW } })],
    nodes: machines(nodes),
    addresses: ips.map((ip) => known(ip)),
    dns: [dnsFacts({ "www.example.com": [] })],
  });
}

/** A record set nodes.example.com of so many nodes. */
function published(nodes: number, spec: Parameters<typeof aRecordSet>[0] = {}): Observation {
  return anObservation({
    recordSets: [aRecordSet(spec)],
    nodes: machines(nodes),
    dns: [dnsFacts({ "nodes.example.com": [] })],
  });
}

const ROWS: readonly (readonly [
  title: string,
  world: Observation,
  happens: readonly string[],
  fate: string,
  moves: number,
])[] = [
  ["one of three holders is lost, and a node waits", pooled(3, 4), ["0 node/n1=NotReady"], "dead 1/3 for 10 s", 1],
  [
    "the only holder is lost, and a node waits",
    pooled(1, 2),
    ["0 node/n1=NotReady"],
    "dead 1/1 for 10 s, no service for 10 s",
    1,
  ],
  [
    "the only holder is lost, and no node waits",
    pooled(1, 1),
    ["0 node/n1=NotReady"],
    "dead 1/1 in the end, no service in the end",
    0,
  ],
  [
    "the only holder is lost, and is ready again after a minute",
    pooled(1, 1),
    ["0 node/n1=NotReady", "60 node/n1=Ready"],
    "dead 1/1 for 60 s, no service for 60 s",
    0,
  ],
  [
    "a holder is lost for which no node waits: it leaves the name, and resolvers forget it",
    pooled(3, 3),
    ["0 node/n1=NotReady"],
    "dead 1/3 for 61 s",
    0,
  ],
  [
    "a second holder is lost while the first address moves",
    pooled(3, 5),
    ["0 node/n1=NotReady", "5 node/n2=NotReady"],
    "dead 2/3 for 20 s",
    2,
  ],
  ["a cordoned holder drains before its address moves", pooled(2, 3), ["0 node/n1=Cordoned"], "", 1],
  [
    "a cordoned holder is gone before resolvers have forgotten it: its address moves at once, as a recovery",
    pooled(2, 3),
    ["0 node/n1=Cordoned", "30 node/n1=Gone"],
    "dead 1/2 for 10 s",
    1,
  ],
  [
    "a published node is cordoned, and gone before resolvers have forgotten it",
    published(5),
    ["0 node/n1=Cordoned", "30 node/n1=Gone"],
    "dead 1/5 for 31 s",
    0,
  ],
  ["a published node is cordoned, and serves on", published(5), ["0 node/n1=Cordoned"], "", 0],
  [
    "a published node is cordoned, serves on until resolvers have forgotten it, and is gone then",
    published(5),
    ["0 node/n1=Cordoned", "62 node/n1=Gone"],
    "",
    0,
  ],
  ["one of five published nodes is lost", published(5), ["0 node/n1=NotReady"], "dead 1/5 for 61 s", 0],
  ["one of five published nodes is gone at once", published(5), ["0 node/n1=Gone"], "dead 1/5 for 61 s", 0],
  [
    "every published node is lost, and the records stay",
    published(2),
    ["0 node/n1=NotReady", "100 node/n2=NotReady"],
    "dead 1/1 in the end, no service in the end",
    0,
  ],
  [
    "every published node is lost, and the records go",
    published(1, { spec: { whenEmpty: "Delete" } }),
    ["0 node/n1=NotReady"],
    "dead 1/1 for 61 s, no service in the end",
    0,
  ],
  [
    "resolvers that know only the node that was lost get no answer until they ask again",
    published(1),
    ["0 node/+n2=like:n1", "0 node/n1=NotReady"],
    "dead 1/1 for 61 s, no service for 61 s",
    0,
  ],
  [
    "a longer TTL is a longer wait",
    published(5, {
      spec: { dnsRecordSet: { provider: "", zone: "example.com", recordName: "nodes", ttlSeconds: 300 } },
    }),
    ["0 node/n1=NotReady"],
    "dead 1/5 for 301 s",
    0,
  ],
  ["nothing happens", pooled(3, 4), [], "", 0],
];

describe("what clients of a name get when", () => {
  test.for(ROWS)("%s", ([, world, happens, fate, moves]) => {
    const simulation = simulated(world, happens);
    expect(Object.values(fates(simulation))).toEqual([fate]);
    expect(simulation.moves.made).toBe(moves);
  });

  test("an assignment takes 4 s and a DNS write 3 s", () => {
    const assumed = { assignMs: 4000, dnsMs: 3000 };
    expect(fates(simulated(pooled(3, 4), ["0 node/n1=NotReady"], assumed))).toEqual({
      "www.example.com": "dead 1/3 for 4 s",
    });
    expect(fates(simulated(published(5), ["0 node/n1=NotReady"], assumed))).toEqual({
      "nodes.example.com": "dead 1/5 for 63 s",
    });
  });

  test("a name is published for the first time: nobody has missed it before", () => {
    const first = simulate(pooled(2, 2), {}, { horizonMs: HORIZON_MS, assumed: ASSUMED });
    expect(fates(first)).toEqual({ "www.example.com": "" });
    expect(
      first.steps.map(({ atMs, actions }) => [atMs - first.observedAtMs, actions.map(({ kind }) => kind)]),
    ).toEqual([
      [0, ["assign-ip", "assign-ip"]],
      [10_000, ["annotate-node", "annotate-node", "update-dns"]],
    ]);
  });

  test("a name never shows an address: nothing is told of it", () => {
    expect(fates(simulated(pooled(1, 0), []))).toEqual({});
  });
});

describe("a simulation", () => {
  test("counts a move that was not needed, and says where the address was", () => {
    const { moves } = simulated(pooled(1, 2), ["0 node/n1=NotReady", "100 node/n1=Ready", "200 node/n2=NotReady"]);
    expect(moves).toEqual({ made: 2, needed: 0, again: [{ ip: FIRST, nodes: ["n1", "n2", "n1"] }] });
  });

  test("counts what the changes ask of a provider, in all and in the worst minute", () => {
    const { calls } = simulated(pooled(1, 2), ["0 node/n1=NotReady", "300 node/n2=NotReady", "300 node/n1=Ready"]);
    // Each time a look before, the assignment, and the read that confirms it.
    expect(calls).toEqual([
      { provider: "digitalocean", calls: 6, perMinutePeak: 3, limit: { calls: 250, ms: 60_000 } },
    ]);
  });

  test("tells what is held from when on, and not what was held before", () => {
    const ips = [FIRST, "no address"];
    const world = { ...pooled(1, 1), pools: [aPool({ spec: { ips, dnsRecordSet: WWW } })] };
    const { steps } = simulated(world, ["0 node/n1=NotReady"]);
    const holds = steps.flatMap((step) => step.holds.map(({ subject, reason }) => `${subject} ${reason}`));
    expect(holds).toContain(`${FIRST} NoCandidate`);
    expect(holds.join()).not.toContain("InvalidIP");
  });

  test("says which nodes could take another address", () => {
    expect(simulated(pooled(1, 3), []).spares.map(({ nodes }) => nodes)).toEqual([["n2", "n3"]]);
    expect(simulated(pooled(1, 2), ["0 node/n1=NotReady"]).spares.map(({ nodes }) => nodes)).toEqual([[]]);
  });

  test("tells the name of a pool whose spec cannot be used: nothing puts it right", () => {
    const world = rested(pooled(1, 2));
    const broken = {
      ...world,
      pools: world.pools.map((pool) => ({
        ...pool,
        spec: { ...pool.spec, match: { ...pool.spec.match, nodeLabel: "a in b" } },
      })),
    };
    const scenario = { text: "n1 fails", happenings: [happening("0 node/n1=NotReady")], assumed: {} };
    const simulation = simulate(broken, {}, { horizonMs: HORIZON_MS, assumed: ASSUMED, scenario });
    expect(fates(simulation)).toEqual({ "www.example.com": expect.stringContaining("no service in the end") });
  });

  test("says nothing of spare nodes while the provider does not answer", () => {
    expect(simulated(pooled(1, 3), ["0 provider/digitalocean=Down"]).spares).toEqual([]);
  });

  test("says that the horizon ended it", () => {
    const world = rested(pooled(2, 2));
    const [pool] = world.pools;
    if (pool === undefined) throw new Error("no pool");
    const slow = { ...world, pools: [{ ...pool, spec: { ...pool.spec, gracePeriodSeconds: 7200 } }] };
    const scenario = { text: "a grace begins", happenings: [happening("0 node/n1=NotReady")], assumed: {} };
    const told = (horizonMs: number): boolean => simulate(slow, {}, { horizonMs, assumed: ASSUMED, scenario }).isCutOff;
    expect([told(HORIZON_MS), told(3 * HORIZON_MS)]).toEqual([true, false]);
  });

  test("is the same each time, and leaves its world as it is", () => {
    const world = rested(pooled(3, 5));
    const before = structuredClone({ ...world, registry: undefined });
    const scenario = {
      text: "",
      happenings: [happening("0 node/n1=NotReady"), happening("5 node/n2=Gone")],
      assumed: {},
    };
    const once = (): Simulation => simulate(world, {}, { horizonMs: HORIZON_MS, assumed: ASSUMED, scenario });
    expect(once()).toEqual(once());
    expect({ ...world, registry: undefined }).toEqual(before);
  });
});
