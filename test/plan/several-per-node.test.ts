import { describe, expect, test } from "vitest";
import { type Action, isAssign } from "../../src/model/action.ts";
import { changesAnnotation } from "../../src/model/action-kinds.ts";
import { addedAddresses } from "../../src/model/annotated.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { IPStatus, PoolSpec } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, aPool, known } from "./builders.ts";
import { planText } from "./plan-text.ts";
import { atHetzner, several } from "./random-several.ts";

const ips = Array.from({ length: 5 }, (_, index) => `203.0.113.${10 + index}`);
const [A = "", B = "", C = "", D = ""] = ips;

/** Nodes n1… at Hetzner, in one location; those that are named show these addresses. */
function servers(count: number, shown: Readonly<Record<string, string>> = {}): ReturnType<typeof aNode>[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `n${index + 1}`;
    const address = shown[name];
    return aNode({
      name,
      providerID: `hcloud://${101 + index}`,
      labels: { "topology.kubernetes.io/region": "fsn1" },
      ...(address === undefined ? {} : { addressAnnotation: address, poolAnnotation: "ingress/web" }),
    });
  });
}

const active = (n: number): IPStatus => ({ state: "active", nodeName: `n${n}`, providerID: `hcloud://${100 + n}` });

/** Pool `web` at Hetzner with addresses on nodes by number; 0 = on none. */
function world(
  places: Readonly<Record<string, number>>,
  nodes: readonly ReturnType<typeof aNode>[],
  spec: Partial<PoolSpec>,
): Observation {
  const held = Object.entries(places).filter(([, n]) => n > 0);
  const web = aPool({
    spec: { provider: "hetzner", region: "fsn1", ips: Object.keys(places), ...spec },
    status: { ips: Object.fromEntries(held.map(([ip, n]) => [ip, active(n)])) },
  });
  const addresses = Object.entries(places).map(([ip, n]) =>
    known(ip, { region: "fsn1", ...(n === 0 ? {} : { holderID: String(100 + n) }) }),
  );
  return atHetzner({ pools: [web], nodes, addresses });
}

const unready = { ready: { isReady: false, sinceMs: Date.parse("2026-08-01T11:59:00Z") } };

test.for<[string, Observation, string[]]>([
  [
    "every node gets one before one gets a second",
    world({ [A]: 0, [B]: 0, [C]: 0 }, servers(2), { maxPerNode: 2 }),
    [
      `assign-ip ${A} to n1: NodeMatched`,
      `assign-ip ${B} to n2: NodeMatched`,
      `assign-ip ${C} to n1: NodeMatched`,
      `annotate-node n1 with ${A},${C}: Verified`,
      `annotate-node n2 with ${B}: Verified`,
    ],
  ],
  [
    "without maxPerNode a node gets one",
    world({ [A]: 0, [B]: 0 }, servers(1), {}),
    [`assign-ip ${A} to n1: NodeMatched`, `annotate-node n1 with ${A}: Verified`],
  ],
  [
    "two addresses of a lost node go to those that have one, and its annotation goes",
    world(
      { [A]: 1, [B]: 2, [C]: 3, [D]: 1 },
      [
        ...servers(1, { n1: `${A},${D}` }).map((node) => ({ ...node, ...unready })),
        ...servers(3, { n2: B, n3: C }).slice(1),
      ],
      { maxPerNode: 2 },
    ),
    [
      `move-ip ${A} from n1 to n2: HolderLost`,
      `move-ip ${D} from n1 to n3: HolderLost`,
      `annotate-node n2 with ${A},${B}: Verified`,
      `annotate-node n3 with ${C},${D}: Verified`,
      `clear-annotation n1: HolderLost`,
    ],
  ],
  [
    "what is there stays although a node has none",
    world({ [A]: 1, [B]: 1 }, servers(2, { n1: `${A},${B}` }), { maxPerNode: 2 }),
    [],
  ],
  [
    "one too many goes to a node that has none",
    world({ [A]: 1, [B]: 1 }, servers(2, { n1: `${A},${B}` }), { maxPerNode: 1 }),
    [
      `move-ip ${B} from n1 to n2: AboveMaxPerNode`,
      `annotate-node n2 with ${B}: Verified`,
      `clear-annotation n1: AboveMaxPerNode`,
    ],
  ],
  [
    "one too many stays where no node has room",
    world({ [A]: 1, [B]: 1 }, servers(1, { n1: `${A},${B}` }), { maxPerNode: 1 }),
    [],
  ],
  [
    "an annotation in another order says the same",
    world({ [A]: 1, [B]: 1 }, servers(1, { n1: `${B},${A}` }), { maxPerNode: 2 }),
    [],
  ],
  [
    "an annotation that shows one of two is completed",
    world({ [A]: 1, [B]: 1 }, servers(1, { n1: A }), { maxPerNode: 2 }),
    [`annotate-node n1 with ${A},${B}: AnnotationDrift`],
  ],
])("%s", ([, observation, expected]) => {
  const text = planText(observation);
  expect(text.filter((line) => !line.startsWith("hold"))).toEqual(expected);
});

/** Machine → the addresses that are there once a plan is carried out. */
function loadsAfter(observation: Observation, actions: readonly Action[]): ReadonlyMap<string, readonly string[]> {
  const left = new Set(actions.flatMap((action) => (action.kind === "unassign-ip" ? [action.ip] : [])));
  const holders = new Map(
    [...(observation.providers.get("hetzner")?.addresses ?? [])].flatMap(([ip, fact]) =>
      fact.kind === "known" && fact.address.holderID !== undefined ? [[ip, fact.address.holderID] as const] : [],
    ),
  );
  for (const { ip, after } of actions.filter(isAssign)) holders.set(ip, after.machineID);
  const staying = [...holders].filter(([ip]) => !left.has(ip));
  return new Map(
    [...Map.groupBy(staying, ([, machine]) => machine)].map(([machine, own]) => [machine, own.map(([ip]) => ip)]),
  );
}

/** How many addresses may stand beside each address, at most. */
function limitsOf({ pools }: Observation): ReadonlyMap<string, number> {
  return new Map(pools.flatMap(({ spec }) => spec.ips.map((ip) => [ip, spec.maxPerNode ?? 1] as const)));
}

describe("random worlds with several addresses on a node", () => {
  const worlds = Array.from({ length: 300 }, (_, seed) => {
    const observation = several(seed);
    return { seed, observation, actions: plan(observation, {}).actions, pools: plan(observation, {}).pools };
  });

  test("no node is sent more than the smallest maxPerNode of those that have an address there", () => {
    for (const { seed, observation, actions } of worlds) {
      const limits = limitsOf(observation);
      const loads = loadsAfter(observation, actions);
      for (const { after } of actions.filter(isAssign)) {
        const all = loads.get(after.machineID) ?? [];
        const most = Math.min(...all.map((ip) => limits.get(ip) ?? 1));
        expect(all.length, `seed ${seed}, machine ${after.machineID}`).toBeLessThanOrEqual(most);
      }
    }
  });

  test("a node is sent a second address only while no other that could take it has none of the pool", () => {
    for (const { seed, actions, pools } of worlds) {
      for (const { object, waiting } of pools) {
        const own = actions.filter(isAssign).filter((action) => action.object.name === object.name);
        const served = new Set(own.map(({ after }) => after.nodeName));
        const isSecond = own.length > served.size || own.some(({ after }) => !waiting.includes(after.nodeName));
        const idle = waiting.filter((name) => !served.has(name));
        expect(isSecond ? idle : [], `seed ${seed}, ${object.name}`).toEqual([]);
      }
    }
  });

  test("the order in which lists arrive changes nothing", () => {
    for (const { observation } of worlds.slice(0, 100)) {
      const { nodes, pools } = observation;
      const shuffled = { ...observation, nodes: nodes.toReversed(), pools: pools.toReversed() };
      expect(planText(shuffled)).toEqual(planText(observation));
    }
  });

  test("nothing leaves a node that matches, unless it has more than its pool allows", () => {
    for (const { seed, observation, actions } of worlds) {
      const ready = new Set(observation.nodes.flatMap(({ name, ready: { isReady } }) => (isReady ? [name] : [])));
      const left = actions.filter(isAssign).filter(({ before }) => ready.has(before?.nodeName ?? ""));
      const reasons = new Set(left.map(({ reason }) => reason));
      expect([...reasons], `seed ${seed}`).toEqual(reasons.size === 0 ? [] : ["AboveMaxPerNode"]);
    }
  });

  test("a node has one write of its annotations at most, which adds what is there or comes, and clears nothing that is", () => {
    for (const { seed, observation, actions } of worlds) {
      const written = actions.filter(changesAnnotation);
      const names = written.map(({ nodeName }) => nodeName);
      expect(names).toEqual([...new Set(names)]);
      const loads = loadsAfter(observation, actions);
      for (const action of written) {
        const here = loads.get(`10${action.nodeName.slice(1)}`) ?? [];
        expect(here, `seed ${seed}`).toEqual(expect.arrayContaining([...addedAddresses(action)]));
      }
    }
  });
});
