import { describe, expect, test } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import { nextLook } from "../../src/plan/next-look.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, aPool, known, NOW } from "./builders.ts";
import { aRecordSet, dnsFacts } from "./dns-builders.ts";
import { randomTimedWorld } from "./random-timed-world.ts";
import { random } from "./random-world.ts";

const SEEDS = Array.from({ length: 400 }, (_, index) => index + 1);
/** Longer than every wait of these worlds. */
const HORIZON_MS = 120_000;

/** The world with the statuses that the plan says. */
function written(world: Observation, { pools, recordSets }: Plan): Observation {
  const statusOf = new Map(
    [...pools, ...recordSets].map(({ object, status }) => [`${object.kind} ${object.name}`, status] as const),
  );
  return {
    ...world,
    pools: world.pools.map((pool) => ({
      ...pool,
      status: { ...pool.status, ...statusOf.get(`${pool.kind} ${pool.meta.name}`) },
    })),
    recordSets: world.recordSets.map((set) => ({
      ...set,
      status: { ...set.status, ...statusOf.get(`dns ${set.meta.name}`) },
    })),
  } as Observation;
}

/** What somebody would do or say: everything but the times in it. */
function judgements({ actions, holds, pools, recordSets }: Plan): unknown {
  return {
    actions,
    holds: holds.map(({ object, subject, kind, reason }) => [object.name, kind, subject, reason].join(" ")),
    matching: [...pools, ...recordSets].map(({ object, matching }) => [object.name, ...matching].join(" ")),
  };
}

test("between two looks of a watching process, time alone changes nothing", () => {
  let looks = 0;
  for (const seed of SEEDS) {
    const next = random(seed);
    const first = randomTimedWorld(seed);
    const world = written(first, plan(first, {}));
    const now = plan(world, {});
    const look = nextLook(now, NOW, { leftOverMs: HORIZON_MS, nextReadInMs: undefined });
    const inMs = Math.min(look?.inMs ?? HORIZON_MS, HORIZON_MS);
    if (inMs < HORIZON_MS) looks += 1;
    for (const share of [next(), next(), 1]) {
      const laterMs = NOW + Math.ceil(inMs * share) - 1;
      if (laterMs <= NOW) continue;
      const later = plan({ ...world, observedAtMs: laterMs, nodesReadAtMs: laterMs }, {});
      expect(judgements(later), `seed ${seed}, after ${laterMs - NOW} of ${inMs} ms`).toEqual(judgements(now));
    }
  }
  expect(looks).toBeGreaterThan(100);
});

describe("a grace that ends while the providers are read is over at the next pass, which comes at once", () => {
  const world = (graceEndsMs: number): Partial<Parameters<typeof anObservation>[0]> => {
    const ready = { isReady: false, sinceMs: graceEndsMs - 30_000 };
    return { nodes: [aNode({ ready, addresses: [{ type: "ExternalIP", address: "198.51.100.1" }] })] };
  };
  const lookOf = (observation: Observation): number | undefined =>
    nextLook(plan(observation, {}), NOW, { leftOverMs: HORIZON_MS, nextReadInMs: undefined })?.inMs;

  test("of an address", () => {
    const ips = { "203.0.113.1": { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } as const;
    const pool = aPool({ spec: { ips: ["203.0.113.1"], gracePeriodSeconds: 30 }, status: { ips } });
    const addresses = [known("203.0.113.1", { holderID: "101" })];
    const observation = anObservation({ pools: [pool], addresses, ...world(NOW - 2000) });
    expect(lookOf({ ...observation, nodesReadAtMs: NOW - 5000 })).toBe(0);
  });

  test("of a published node", () => {
    const recordSets = [aRecordSet({ spec: { gracePeriodSeconds: 30 } })];
    const dns = [dnsFacts({ "nodes.example.com": ["198.51.100.1"] })];
    const observation = anObservation({ recordSets, dns, ...world(NOW - 2000) });
    expect(lookOf({ ...observation, nodesReadAtMs: NOW - 5000 })).toBe(0);
  });
});
