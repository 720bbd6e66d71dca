import { describe, expect, test } from "vitest";
import type { ChangeTold, Section, Subject } from "../../src/model/explanation.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { PoolSpec } from "../../src/model/resource.ts";
import { explain } from "../../src/rehearse/explain.ts";
import { forward } from "../../src/rehearse/forward.ts";
import { aNode, anObservation, aPool, known, NOW, nodes } from "../plan/builders.ts";
import { atHetzner } from "../plan/random-several.ts";

const IPS = Array.from({ length: 5 }, (_, index) => `203.0.113.${10 + index}`);
const HORIZON_MS = 15 * 60_000;
const OBJECT: Subject = { kind: "object" };

/** Two servers, and the pool `web` with so many addresses, one of them active on each server. */
function world(
  count: number,
  spec: Partial<PoolSpec> = {},
  states: readonly Partial<Parameters<typeof aNode>[0]>[] = [{}, {}],
): Observation {
  const ips = IPS.slice(0, count);
  const servers = states.map((state, index) =>
    aNode({
      name: `n${index + 1}`,
      providerID: `hcloud://${101 + index}`,
      labels: { "topology.kubernetes.io/region": "fsn1" },
      addressAnnotation: ips[index] ?? "",
      poolAnnotation: "ingress/web",
      ...state,
    }),
  );
  const active = ips
    .slice(0, 2)
    .map(
      (ip, index) =>
        [ip, { state: "active", nodeName: `n${index + 1}`, providerID: `hcloud://${101 + index}` }] as const,
    );
  return atHetzner({
    pools: [
      aPool({
        spec: { provider: "hetzner", region: "fsn1", ips, ...spec },
        status: { ips: Object.fromEntries(active) },
      }),
    ],
    nodes: servers,
    addresses: ips.map((ip, index) =>
      known(ip, { region: "fsn1", ...(index < 2 ? { holderID: String(101 + index) } : {}) }),
    ),
  });
}

function sectionOf(observation: Observation, subject: Subject): Section {
  const { sections } = explain(observation, { subject, isMeant: ({ name }) => name === "web", horizonMs: HORIZON_MS });
  const [section] = sections;
  if (section === undefined) throw new Error("nothing is told");
  return section;
}

function changesOf(observation: Observation, subject: Subject = OBJECT): readonly ChangeTold[] {
  return sectionOf(observation, subject).counterfactual?.changes ?? [];
}

describe("a pool with more addresses than nodes, where a machine can have several", () => {
  test.each([
    [3, undefined, 2],
    [4, undefined, 2],
    [5, undefined, 3],
    [5, 2, 3],
  ] as const)("of %d addresses on two nodes, at most %s on each, is told to allow %d", (count, maxPerNode, told) => {
    const observation = world(count, maxPerNode === undefined ? {} : { maxPerNode });
    expect(changesOf(observation)).toEqual([
      {
        edit: `pool/ingress/web.maxPerNode=${told}`,
        cost: 2,
        command: `kubectl -n ingress patch floatingippool web --type=merge -p '{"spec":{"maxPerNode":${told}}}'`,
        message: `set spec.maxPerNode: ${told} of pool/ingress/web`,
      },
    ]);
    const edited = {
      ...observation,
      pools: observation.pools.map((pool) => ({ ...pool, spec: { ...pool.spec, maxPerNode: told } })),
    };
    const { remaining } = forward(edited, {}, { horizonMs: HORIZON_MS });
    const states = Object.values(remaining.pools[0]?.status.ips ?? {}).map(({ state }) => state);
    expect(states).toEqual(Array.from({ length: count }, () => "active"));
  });

  test("is told so for one address, too", () => {
    const ip = IPS[2] ?? "";
    expect(changesOf(world(3), { kind: "ip", ip }).map(({ edit }) => edit)).toEqual(["pool/ingress/web.maxPerNode=2"]);
    expect(changesOf(world(3), { kind: "pair", ip, node: "n1" })[0]?.edit).toBe("pool/ingress/web.maxPerNode=2");
  });

  test("is told the cheaper thing where a node lacks little", () => {
    const cordoned = {
      taints: [{ key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" as const }],
    };
    const observation = world(3, {}, [{}, {}, { ...cordoned, addressAnnotation: "" }]);
    expect(changesOf(observation).map(({ edit }) => edit)).toEqual(["node/n3=Uncordoned"]);
  });

  test("is not told so where another pool that shares the nodes allows one", () => {
    const observation = world(3);
    const other = aPool({
      name: "other",
      createdAtMs: NOW - 1000,
      spec: { provider: "hetzner", region: "fsn1", ips: [IPS[3] ?? "", IPS[4] ?? ""] },
      status: {
        ips: Object.fromEntries(
          [1, 2].map((n) => [IPS[n + 2], { state: "active", nodeName: `n${n}`, providerID: `hcloud://${100 + n}` }]),
        ),
      },
    });
    const [web] = observation.pools;
    if (web === undefined) throw new Error("there is no pool");
    const shared = atHetzner({
      pools: [other, { ...web, status: { ...web.status, ips: {} } }],
      nodes: observation.nodes,
      addresses: [
        ...IPS.slice(0, 3).map((ip) => known(ip, { region: "fsn1" })),
        ...[1, 2].map((n) => known(IPS[n + 2] ?? "", { region: "fsn1", holderID: String(100 + n) })),
      ],
    });
    expect(changesOf(shared).map(({ edit }) => edit)).not.toContain("pool/ingress/web.maxPerNode=2");
  });
});

test("where a machine can have one address only, there is no such change", () => {
  const [a = "", b = ""] = IPS;
  const observation = anObservation({
    pools: [
      aPool({
        spec: { ips: [a, b] },
        status: { ips: { [a]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } },
      }),
    ],
    nodes: nodes(1),
    addresses: [known(a, { holderID: "101" }), known(b)],
  });
  const { counterfactual } = sectionOf(observation, OBJECT);
  const all = [counterfactual?.changes ?? [], ...(counterfactual?.alternatives ?? [])].flat();
  expect(all.filter(({ edit = "" }) => edit.includes("maxPerNode"))).toEqual([]);
});
