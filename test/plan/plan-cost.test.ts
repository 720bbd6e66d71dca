import { expect, test, vi } from "vitest";
import { addressesWithout } from "../../src/model/dns.ts";
import type { Observation } from "../../src/model/observation.ts";
import { summarizePods } from "../../src/model/pods.ts";
import { plan } from "../../src/plan/plan.ts";
import { forward } from "../../src/rehearse/forward.ts";
import { plannerWorld } from "../bench/planner-world.ts";

const NODES = 200;
const SETS = 10;

/** A world at rest with ten names of all nodes. */
function worldAtRest(): Observation {
  const { observation, pods } = plannerWorld({ nodes: NODES, pools: 10, recordSets: SETS });
  const summaries = new Map(
    pods.map(([selector, list]) => [selector, { kind: "read", byNode: summarizePods(list) } as const]),
  );
  return forward({ ...observation, pods: summaries }, {}, { horizonMs: 3_600_000 }).world;
}

/** A list that counts how often one of its entries is read. */
function counting<T>(list: readonly T[], onRead: () => void): readonly T[] {
  return new Proxy(list, {
    get: (target, key, receiver) => {
      if (typeof key === "string" && /^\d+$/.test(key)) onRead();
      return Reflect.get(target, key, receiver);
    },
  });
}

/** A map that counts how often it is asked. */
class CountingMap<T> extends Map<string, T> {
  asked = 0;
  override get(key: string): T | undefined {
    this.asked += 1;
    return super.get(key);
  }
}

test("a plan of ten names of all nodes asks for each address as often as one of one name, and does not search names for each", () => {
  const world = worldAtRest();
  let reads = 0;
  const recordSets = world.recordSets.map((one) => {
    const { publishedDNS } = one.status;
    if (publishedDNS === undefined) throw new Error("a name is not published");
    const addresses = counting(publishedDNS.addresses, () => {
      reads += 1;
    });
    return { ...one, status: { ...one.status, publishedDNS: { ...publishedDNS, addresses } } };
  });
  const asked = new CountingMap<never>();
  const providers = new Map(
    [...world.providers].map(([name, facts]) => {
      for (const [ip, fact] of facts.addresses) asked.set(ip, fact as never);
      return [name, { ...facts, addresses: asked }] as const;
    }),
  );
  const counted = { ...world, recordSets, providers };
  const { actions, names } = plan(counted, {});
  expect([actions.length, names.length]).toEqual([0, 20]);
  const lostNode = world.nodes.slice(1);
  plan({ ...counted, nodes: lostNode }, {});
  // Of two plans: some passes over each list, and no pass for each of its addresses.
  expect(reads).toBeLessThan(10 * SETS * NODES);
  expect(asked.asked).toBeLessThan(8 * (NODES + 100));
});

test("a plan after a change of one node does not ask for the machines of all nodes again", () => {
  const world = worldAtRest();
  const asked = vi.spyOn(world.registry, "machineID");
  const timesAsked = (nodes: Observation["nodes"]): number => {
    asked.mockClear();
    plan({ ...world, nodes }, {});
    return asked.mock.calls.length;
  };
  const first = timesAsked(world.nodes.map((node) => ({ ...node })));
  const nodes = [...world.nodes];
  plan({ ...world, nodes }, {});
  const later = timesAsked(nodes.map((node, at) => (at === 0 ? { ...node, ready: { isReady: false } } : node)));
  expect(later).toBeLessThan(first - NODES / 2);
  asked.mockRestore();
});

test("what one list has and the other one lacks keeps its order", () => {
  const [all, some] = [
    ["a", "b", "c", "d"],
    ["c", "a", "x"],
  ];
  expect(addressesWithout(all, some)).toEqual(["b", "d"]);
  expect(addressesWithout(some, all)).toEqual(["x"]);
  expect([addressesWithout(all, all), addressesWithout([], all), addressesWithout(all, [])]).toEqual([[], [], all]);
});
