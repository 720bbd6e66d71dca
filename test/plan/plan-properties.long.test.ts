import { expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import type { Observation } from "../../src/model/observation.ts";
import { plan } from "../../src/plan/plan.ts";
import { randomWorld } from "./random-world.ts";

const SEEDS = Array.from({ length: 400 }, (_, index) => index + 1);

function assigned(actions: readonly Action[]): readonly { readonly ip: string; readonly machine: string }[] {
  return actions.flatMap((action) => {
    if (action.kind === "assign-ip" || action.kind === "move-ip")
      return [{ ip: action.ip, machine: action.after.machineID }];
    return action.kind === "acquire-ip" && "node" in action.after
      ? [{ ip: action.id, machine: action.after.node.machineID }]
      : [];
  });
}

test("the order in which lists arrive changes nothing", () => {
  for (const seed of SEEDS) {
    const observation = randomWorld(seed);
    const shuffled: Observation = {
      ...observation,
      pools: observation.pools.toReversed(),
      nodes: observation.nodes.toReversed(),
      providers: new Map(
        [...observation.providers].map(([name, facts]) => [
          name,
          { ...facts, addresses: new Map([...facts.addresses].toReversed()) },
        ]),
      ),
    };
    expect(plan(shuffled, {}), `seed ${seed}`).toEqual(plan(observation, {}));
  }
});

test("an address is never planned for two machines, nor a machine for two addresses", () => {
  for (const seed of SEEDS) {
    const pairs = assigned(plan(randomWorld(seed), {}).actions);
    expect(new Set(pairs.map(({ ip }) => ip)).size, `seed ${seed}`).toBe(pairs.length);
    expect(new Set(pairs.map(({ machine }) => machine)).size, `seed ${seed}`).toBe(pairs.length);
  }
});

test("a machine that keeps an address gets no other", () => {
  for (const seed of SEEDS) {
    const observation = randomWorld(seed);
    const { actions } = plan(observation, {});
    const leaving = new Set(
      actions.flatMap((action) => (action.kind === "unassign-ip" || action.kind === "move-ip" ? [action.ip] : [])),
    );
    const kept = new Map(
      [...(observation.providers.get("digitalocean")?.addresses ?? [])].flatMap(([ip, fact]) =>
        fact.kind === "known" && fact.address.holderID !== undefined && !leaving.has(ip)
          ? [[fact.address.holderID, ip] as const]
          : [],
      ),
    );
    for (const { machine } of assigned(actions))
      expect(kept.has(machine), `seed ${seed}: droplet ${machine}`).toBe(false);
  }
});

test("only what flipop acquired is deleted, and only with Delete", () => {
  let deleted = 0;
  for (const seed of SEEDS) {
    const observation = randomWorld(seed);
    for (const action of plan(observation, {}).actions) {
      if (action.kind !== "delete-ip") continue;
      const pool = observation.pools.find(({ meta }) => meta.name === action.object.name);
      expect(pool?.spec.reclaimPolicy, `seed ${seed}`).toBe("Delete");
      expect(
        pool?.status.acquired.map(({ ip }) => ip),
        `seed ${seed}`,
      ).toContain(action.ip);
      deleted += 1;
    }
  }
  expect(deleted).toBeGreaterThan(5);
});

test("a pool never plans to hold more than desiredIPs", () => {
  for (const seed of SEEDS) {
    const observation = randomWorld(seed);
    const { actions } = plan(observation, {});
    for (const pool of observation.pools) {
      const bought = actions.filter(
        ({ kind, object }) => kind === "acquire-ip" && object.name === pool.meta.name,
      ).length;
      const had = new Set([...pool.spec.ips, ...pool.status.acquired.map(({ ip }) => ip)]).size;
      if (bought > 0)
        expect(had + bought - pool.status.acquired.length, `seed ${seed}`).toBeLessThanOrEqual(pool.spec.desiredIPs);
    }
  }
});

test("suspended objects, and objects outside the selection, are planned nothing", () => {
  for (const seed of SEEDS) {
    const observation = randomWorld(seed);
    const suspended = new Set(observation.pools.filter(({ spec }) => spec.suspend).map(({ meta }) => meta.name));
    const { actions } = plan(observation, { objects: ["ingress/p0"] });
    expect(
      actions.every(({ object }) => object.name === "p0" && !suspended.has(object.name)),
      `seed ${seed}`,
    ).toBe(true);
  }
});

test("of a pool whose pods the API server does not list nothing is planned, and its status keeps all but the error", () => {
  let others = 0;
  for (const seed of SEEDS) {
    const world = randomWorld(seed);
    const refused = world.pools[seed % world.pools.length];
    if (refused === undefined || refused.meta.isDeleting) continue;
    if (refused.spec.ips.length === 0 && refused.spec.desiredIPs === 0) continue;
    const match = { ...refused.spec.match, podNamespace: "shop" };
    const pool = { ...refused, spec: { ...refused.spec, match } };
    const pools = world.pools.map((one) => (one === refused ? pool : one));
    const pods: Observation["pods"] = new Map([["shop|", { kind: "refused", error: "no (400)" }]]);
    const { actions, pools: assessed } = plan({ ...world, pools, pods }, {});
    const { name } = refused.meta;
    expect(
      actions.filter(({ object }) => object.name === name).map(({ id }) => id),
      `seed ${seed}`,
    ).toEqual([]);
    const { conditions, observedGeneration, ...status } =
      assessed.find(({ object }) => object.name === name)?.status ?? {};
    const { conditions: _, observedGeneration: __, ...stored } = refused.status;
    expect(status, `seed ${seed}`).toEqual({ ...stored, error: "no (400)" });
    expect(conditions?.[2], `seed ${seed}`).toMatchObject({ type: "Stalled", reason: "SelectorRefused" });
    others += actions.length;
  }
  expect(others).toBeGreaterThan(100);
});
