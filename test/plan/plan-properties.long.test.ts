import { expect, test } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import { plan } from "../../src/plan/plan.ts";
import { randomFirewallWorld } from "./random-firewall-world.ts";
import { randomWorld } from "./random-world.ts";

const SEEDS = Array.from({ length: 400 }, (_, index) => index + 1);

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

test("the order of the objects with firewalls changes nothing", () => {
  for (const seed of SEEDS.slice(0, 200)) {
    const observation = randomFirewallWorld(seed);
    expect(plan({ ...observation, pools: observation.pools.toReversed() }, {}), `seed ${seed}`).toEqual(
      plan(observation, {}),
    );
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
