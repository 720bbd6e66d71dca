import { expect, test } from "vitest";
import type { NodeFacts, Taint } from "../../src/model/node.ts";
import type { Observation, PodSummary } from "../../src/model/observation.ts";
import { judgeNodes } from "../../src/plan/nodes/judge-nodes.ts";
import type { Matcher } from "../../src/plan/nodes/match.ts";
import { plan } from "../../src/plan/plan.ts";
import { validatePool } from "../../src/plan/validate.ts";
import { aNode, anObservation, aPool, known, NOW } from "./builders.ts";
import { random } from "./random-world.ts";

const TAINTS: readonly Taint[] = [
  { key: "dedicated", value: "", effect: "NoSchedule" },
  { key: "soft", value: "", effect: "PreferNoSchedule" },
  { key: "node.kubernetes.io/not-ready", value: "", effect: "NoExecute", timeAddedMs: NOW - 20_000 },
  { key: "node.kubernetes.io/out-of-service", value: "", effect: "NoExecute", timeAddedMs: NOW - 5000 },
];
const TOLERATIONS: readonly Matcher["tolerations"][] = [
  [],
  [{ key: "dedicated", operator: "Exists" }],
  [{ operator: "Exists" }],
  [{ operator: "Exists", tolerationSeconds: 30 }],
];
const LABELS = ["", "role=web", "role notin (web)"];

/** Nodes and pods by chance, in all states that a node can be in. */
function randomNodes(next: () => number): readonly NodeFacts[] {
  const chance = (share: number): boolean => next() < share;
  return Array.from({ length: 12 }, (_, index) => ({
    ...aNode({
      name: `n${String(index).padStart(2, "0")}`,
      droplet: 101 + index,
      ready: { isReady: chance(0.8), sinceMs: NOW - 10_000 },
      isDeleting: chance(0.05),
      labels: chance(0.5) ? { role: "web" } : {},
    }),
    taints: TAINTS.filter(() => chance(0.1)),
    ...(chance(0.1) ? { unreadable: "status.conditions" } : {}),
  }));
}

function randomPods(next: () => number, nodes: readonly NodeFacts[]): ReadonlyMap<string, PodSummary> {
  const some = nodes.filter(() => next() < 0.5).map(({ name }) => name);
  return new Map(
    [...some, "gone", ""]
      .toSorted(() => next() - 0.5)
      .map((name) => [
        name,
        {
          ready: next() < 0.6 ? 1 : 0,
          notReady: 1,
          unreadySinceMs: NOW - 3000,
          ...(next() < 0.15 ? { unreadable: "pod a/b" } : {}),
        },
      ]),
  );
}

/** What a pool may ask of nodes, without its pods. */
const MATCHERS = TOLERATIONS.flatMap((tolerations) =>
  LABELS.map((nodeLabel) => {
    const match = { nodeLabel, podNamespace: "", podLabel: "", tolerations };
    const validation = validatePool(aPool({ spec: { desiredIPs: 1, match } }), anObservation({}));
    if (validation.kind !== "valid") throw new Error("the pool is not valid");
    return validation.matcher;
  }),
);

test("what objects have in common is judged as if each were alone, in later passes, too", () => {
  const kinds = new Set<string>();
  for (let seed = 1; seed <= 60; seed += 1) {
    const next = random(seed);
    const nodes = randomNodes(next);
    const pods = [undefined, randomPods(next, nodes), randomPods(next, nodes)];
    const asked = pods.flatMap((podsByNode) => MATCHERS.map((matcher) => ({ ...matcher, podsByNode })));
    const cases = [NOW, NOW + 20_000, NOW].flatMap((nodesReadAtMs) =>
      asked.map((matcher) => ({ matcher, world: { nodes, nodesReadAtMs } })),
    );
    for (const { matcher, world } of cases) {
      const { key: _, ...alone } = matcher;
      const { of: __, ...shared } = judgeNodes(aPool(), { kind: "valid", matcher }, world);
      const { of, ...single } = judgeNodes(aPool(), { kind: "valid", matcher: alone }, world);
      expect(shared, `seed ${seed}`).toEqual(single);
      for (const node of nodes) kinds.add(of(node).kind);
    }
  }
  expect([...kinds].toSorted()).toEqual(["excluded", "match", "unreadable", "unready"]);
});

test("a plan after another one of nearly the same world is the plan of a process that knows no other", () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const next = random(seed);
    let nodes = randomNodes(next);
    let pods: Observation["pods"] = new Map(
      ["a", "b"].map((name) => [`${name}|`, { kind: "read", byNode: randomPods(next, nodes) }] as const),
    );
    for (let pass = 0; pass < 5; pass += 1) {
      const pools = ["a", "b", "a"].map((podNamespace, index) => {
        const ips = [1, 2, 3].map((ip) => `203.0.113.${index * 3 + ip}`);
        const spec = {
          ips,
          match: {
            nodeLabel: LABELS[index] ?? "",
            podNamespace,
            podLabel: "",
            tolerations: TOLERATIONS[seed % 4] ?? [],
          },
        };
        return aPool({ name: `p${index}`, spec });
      });
      const addresses = pools.flatMap(({ spec }) => spec.ips.map((ip) => known(ip)));
      const world = anObservation({ pools, nodes, addresses });
      const observed = { ...world, nodes, pods, nodesReadAtMs: NOW + pass * 15_000 };
      expect(plan(observed, {}), `seed ${seed}, pass ${pass}`).toEqual(plan(structuredCopy(observed), {}));
      const [changed] = randomNodes(next);
      if (pass % 2 === 0) nodes = nodes.map((node, index) => (index === 0 && changed ? changed : node));
      else pods = new Map([...pods, ["a|", { kind: "read", byNode: randomPods(next, nodes) }]]);
    }
  }
});

/** The same lists anew, of which nothing is known. */
function structuredCopy({ nodes, pods, ...rest }: Observation): Observation {
  const copies = [...pods].map(
    ([key, reading]) =>
      [key, reading.kind === "read" ? { ...reading, byNode: new Map(reading.byNode) } : reading] as const,
  );
  return { ...rest, nodes: nodes.map((node) => ({ ...node })), pods: new Map(copies) };
}

test("of two nodes with one name both are judged", () => {
  const nodes = [aNode({ name: "n", droplet: 1 }), aNode({ name: "n", droplet: 2, ready: { isReady: false } })];
  const pool = aPool({ spec: { desiredIPs: 1 } });
  const validation = validatePool(pool, anObservation({}));
  const { matches, notMatching } = judgeNodes(pool, validation, { nodes, nodesReadAtMs: NOW });
  expect([matches.length, notMatching.length]).toEqual([1, 1]);
});
