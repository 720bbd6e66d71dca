import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import { changesName } from "../../src/model/action-kinds.ts";
import type { AddressFact } from "../../src/model/address.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, aPool, known, NOW, nodes } from "./builders.ts";
import { planText } from "./plan-text.ts";
import { randomDNSWorld } from "./random-dns-world.ts";
import { isSix, randomFamilies, SIX, withSix } from "./random-families.ts";

const [V4, A] = ["203.0.113.10", "2001:db8::a"] as const;

/** An observation with both families of DigitalOcean. */
function world(parts: {
  readonly pools: readonly Pool[];
  readonly nodes: readonly NodeFacts[];
  readonly ipv4?: readonly [string, AddressFact][];
  readonly ipv6?: readonly [string, AddressFact][];
}): Observation {
  const { pools, nodes: all, ipv4 = [], ipv6 = [] } = parts;
  const base = anObservation({ pools, nodes: all, addresses: ipv4 });
  const six = { name: SIX, addresses: new Map(ipv6), isComplete: true, readAtMs: NOW, addressCount: ipv6.length };
  return { ...base, providers: new Map([...base.providers, [SIX, six]]) };
}

const web = (spec: Partial<Pool["spec"]>, name = "web"): Pool => aPool({ name, spec: { provider: SIX, ...spec } });

const twelve: readonly number[] = Array.from({ length: 12 }, (_, index) => NOW - 55_000 + index * 1000);

function withLease(observation: Observation, lease: Partial<Observation["lease"]>): Observation {
  return { ...observation, lease: { ...observation.lease, ...lease } };
}

describe("a pool of IPv6", () => {
  test.for<[string, Observation, string[]]>([
    [
      "goes to nodes that have an IPv4 address, and is annotated beside it",
      world({
        pools: [aPool({ name: "four", spec: { ips: [V4] } }), web({ ips: [A] })],
        nodes: [aNode({ addressAnnotation: V4, poolAnnotation: "ingress/four" })],
        ipv4: [known(V4, { holderID: "101" })],
        ipv6: [known(A)],
      }),
      [`assign-ip ${A} to n1: NodeMatched`, `annotate-node n1 with ${A}: Verified`],
    ],
    [
      "buys for a region, one for each node that waits",
      world({ pools: [web({ desiredIPs: 2, region: "" })], nodes: nodes(2) }),
      ["acquire-ip new-1 in nyc3: BelowDesired", "acquire-ip new-2 in nyc3: BelowDesired"],
    ],
    [
      "is bought beside twelve IPv4 addresses that were bought within the minute",
      withLease(world({ pools: [web({ desiredIPs: 1, region: "" })], nodes: nodes(1) }), {
        acquisitionTimesMs: twelve,
      }),
      ["acquire-ip new-1 in nyc3: BelowDesired"],
    ],
    [
      "waits after twelve IPv6 addresses that were bought within the minute",
      withLease(world({ pools: [web({ desiredIPs: 1, region: "" })], nodes: nodes(1) }), {
        acquisitionTimesIPv6Ms: twelve,
      }),
      ["hold acquire-ip ingress/web: CreationRate for 10s"],
    ],
    [
      "buys for no node whose region is not known, unless the spec has one",
      world({ pools: [web({ desiredIPs: 1, region: "" })], nodes: [aNode({ labels: {} })] }),
      ["hold acquire-ip ingress/web: NoRegion"],
    ],
    [
      "clears what the annotation of its family shows and is IPv4's",
      world({
        pools: [aPool({ name: "four", spec: { ips: [V4] } })],
        nodes: [
          aNode({
            addressAnnotation: V4,
            poolAnnotation: "ingress/four",
            ipv6: { addressAnnotation: V4, poolAnnotation: "ingress/four" },
          }),
        ],
        ipv4: [known(V4, { holderID: "101" })],
      }),
      ["clear-annotation n1: AnnotationDrift"],
    ],
    [
      "is not kept from a machine by an IPv4 address that could not be read and may be there",
      world({
        pools: [
          aPool({
            name: "four",
            spec: { ips: [V4] },
            status: { ips: { [V4]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } },
          }),
          web({ ips: [A] }),
        ],
        nodes: nodes(1),
        ipv4: [[V4, { kind: "gap", error: "500" }]],
        ipv6: [known(A)],
      }),
      [`assign-ip ${A} to n1: NodeMatched`, `annotate-node n1 with ${A}: Verified`],
    ],
  ])("%s", ([, observation, told]) => {
    expect(planText(observation).filter((line) => !line.includes(V4) || line.includes("annotation"))).toEqual(told);
  });
});

test("an object that acquired an address keeps its family, and its address; without one it may change", () => {
  const acquired = [{ ip: V4, acquiredAt: "2026-08-01T11:00:00Z" }];
  const ips = { [V4]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } as const;
  const node = aNode({ addressAnnotation: V4, poolAnnotation: "ingress/web" });
  const at = (status: Partial<Pool["status"]>): Observation =>
    world({
      pools: [aPool({ spec: { provider: SIX, ips: [A] }, status })],
      nodes: [node],
      ipv4: [known(V4, { holderID: "101" })],
      ipv6: [known(A)],
    });
  const kept = plan(at({ acquired, ips }), {});
  expect(kept.actions).toEqual([]);
  expect(kept.pools[0]?.status).toMatchObject({
    acquired,
    ips,
    error: `ipFamily cannot be IPv6: ${V4} was acquired for it; make a new one for that family`,
  });
  expect(planText(at({ ips }))).toEqual([
    `assign-ip ${A} to n1: NodeMatched`,
    `annotate-node n1 with ${A}: Verified`,
    "clear-annotation n1: NotManaged",
  ]);
});

describe("addresses of one network", () => {
  const network = "2001:db8:1:2::/64";
  const [FIRST, SECOND] = ["2001:db8:1:2::a", "2001:db8:1:2::b"] as const;
  const together: readonly [string, AddressFact][] = [known(FIRST, { network }), known(SECOND, { network })];

  test.for<[string, readonly Pool[], string]>([
    ["of one pool: the first is used", [web({ ips: [FIRST, SECOND] })], "web"],
    ["of two pools: that of the senior is used", [web({ ips: [FIRST] }), web({ ips: [SECOND] }, "young")], "young"],
  ])("%s, and the other says why it is not", ([, pools, name]) => {
    const [senior, ...others] = pools;
    const aged = [...(senior === undefined ? [] : [senior]), ...others.map((one) => youngerThan(one))];
    const { actions, pools: assessed } = plan(world({ pools: aged, nodes: nodes(2), ipv6: together }), {});
    expect(actions.filter(({ kind }) => kind === "assign-ip").map(({ id }) => id)).toEqual([
      `assign-ip pool/ingress/web ${FIRST}`,
    ]);
    expect(assessed.find(({ object }) => object.name === name)?.status.ips[SECOND]).toMatchObject({
      state: "error",
      reason: "Conflict",
      error: `owned by pool ingress/web, whose ${FIRST} is of the same network ${network}: the provider moves both together`,
    });
  });

  test("the one that is active keeps the network, wherever it stands in the list", () => {
    const at = { state: "active", nodeName: "n1", providerID: "digitalocean://101" } as const;
    const pool = aPool({ spec: { provider: SIX, ips: [FIRST, SECOND] }, status: { ips: { [SECOND]: at } } });
    const node = aNode({ ipv6: { addressAnnotation: SECOND, poolAnnotation: "ingress/web" } });
    const held = [known(FIRST, { network, holderID: "101" }), known(SECOND, { network, holderID: "101" })];
    const { actions, pools } = plan(world({ pools: [pool], nodes: [node], ipv6: held }), {});
    expect(actions).toEqual([]);
    expect(pools[0]?.status.ips).toMatchObject({ [FIRST]: { reason: "Conflict" }, [SECOND]: { state: "active" } });
  });
});

function youngerThan(pool: Pool): Pool {
  return { ...pool, meta: { ...pool.meta, createdAtMs: NOW } };
}

/** What is planned for the objects of one half of a world. The TTL is left out: at DigitalOcean a name has one, whatever the types of its records. */
function half(observation: Observation, isWanted: (object: { readonly name: string }) => boolean): unknown {
  const { actions, holds, pools } = plan(observation, {});
  const bare = (action: Action): unknown => {
    if (!changesName(action)) return action;
    const { cachedSeconds: _cached, ...rest } = action;
    return { ...rest, before: action.before.addresses, after: action.after.addresses };
  };
  return {
    actions: actions.filter(({ object }) => isWanted(object)).map(bare),
    holds: holds.filter(({ object }) => isWanted(object)),
    statuses: pools.filter(({ object }) => isWanted(object)).map(({ object, status: { ips } }) => [object.name, ips]),
  };
}

describe("in random worlds of both families", () => {
  const isFour = (object: { readonly name: string }): boolean => !isSix(object);
  const unusable = { kind: "unanswered", message: "no answer" } as const;

  test.for(Array.from({ length: 60 }, (_, seed) => seed))("IPv4 is planned as if it were alone, seed %i", (seed) => {
    const alone = half(randomDNSWorld(seed), isFour);
    const dual = randomFamilies(seed);
    expect(half(dual, isFour)).toEqual(alone);
    expect(half(withSix(dual, { unusable, addresses: new Map(), isComplete: false }), isFour)).toEqual(alone);
  });

  test("IPv6 is planned, too: addresses move, are annotated and published", () => {
    const kinds = new Set(
      Array.from({ length: 60 }, (_, seed) => plan(randomFamilies(seed), {}).actions)
        .flat()
        .filter(({ object }) => isSix(object))
        .map(({ kind }) => kind),
    );
    for (const kind of ["assign-ip", "move-ip", "annotate-node", "clear-annotation", "update-dns"] as const)
      expect(kinds).toContain(kind);
  });
});
