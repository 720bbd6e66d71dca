import { describe, expect, test } from "vitest";
import type { AcquireIP } from "../../src/model/action.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { anObservation, aPool, known, NOW, nodes } from "./builders.ts";
import { planText } from "./plan-text.ts";
import { random } from "./random-world.ts";

const [A, B] = ["203.0.113.10", "203.0.113.11"] as const;

function owning(name: string, desiredIPs: number, createdAtMs: number, ...ips: readonly string[]): Pool {
  const acquired = ips.map((ip) => ({ ip, acquiredAt: new Date(NOW - 1000).toISOString() }));
  return aPool({ name, createdAtMs, spec: { desiredIPs }, status: { acquired } });
}

describe("the last free addresses of the account", () => {
  const pools = [owning("web", 3, NOW - 9000, A), owning("mail", 1, NOW - 1000)];
  const world = (free: number, more: readonly Pool[] = []): Observation =>
    anObservation({
      pools: [...pools, ...more],
      addresses: [known(A), known(B)],
      provider: { addressCount: 2, addressLimit: 2 + free },
    });

  test("one is kept for each object that has none", () => {
    expect(planText(world(2))).toEqual([
      "acquire-ip new-1 in nyc3: BelowDesired",
      "acquire-ip new-1 in nyc3: BelowDesired",
      "hold assign-ip 203.0.113.10: NoCandidate",
      "hold acquire-ip ingress/web: QuotaExceeded (the last free address of the account is kept for pool ingress/mail, which has none)",
    ]);
  });

  test("several are kept for several", () => {
    const [, , kept] = planText(world(2, [owning("vpn", 1, NOW - 500)])).filter((line) => !line.includes("assign-ip"));
    expect(kept).toBe(
      "hold acquire-ip ingress/web: QuotaExceeded (the last 2 free addresses of the account are kept for pool ingress/mail and 1 more that have none)",
    );
  });

  test("also for an object that this run does not write", () => {
    const [held] = plan(world(1), { objects: ["pool/ingress/web"] }).holds.filter(({ kind }) => kind === "acquire-ip");
    expect(held?.detail).toContain("is kept for pool ingress/mail");
  });

  test("nothing is kept where the limit is not known, or is enough for all", () => {
    const unknown = anObservation({ pools, addresses: [known(A), known(B)] });
    for (const observation of [unknown, world(3)])
      expect(plan(observation, {}).actions.filter(({ kind }) => kind === "acquire-ip")).toHaveLength(3);
  });
});

/** Pools with and without addresses, more of them than the account may get. */
function scarceWorld(seed: number): Observation {
  const next = random(seed);
  const upTo = (most: number): number => Math.floor(next() * (most + 1));
  const chance = (share: number): boolean => next() < share;
  const addresses = Array.from({ length: 5 }, (_, index) => known(`203.0.113.${index + 1}`));
  const open = addresses.map(([ip]) => ip);
  const pools = Array.from({ length: 2 + upTo(4) }, (_, index) => {
    const owned = owning(`p${index}`, upTo(4), NOW - upTo(5) * 1000, ...open.splice(0, chance(0.5) ? upTo(2) : 0));
    const spec = { ...owned.spec, region: chance(0.8) ? "nyc3" : "", suspend: chance(0.1), ips: [] };
    const meta = { ...owned.meta, isDeleting: chance(0.1) };
    return { ...owned, meta, spec: { ...spec, assignmentCoolOffSeconds: chance(0.2) ? 30 : 0 } };
  });
  const provider = { addressCount: addresses.length, addressLimit: addresses.length + upTo(4) };
  return anObservation({ pools, addresses, provider, nodes: nodes(upTo(3)) });
}

/** The world in which these acquisitions succeeded. */
function after(world: Observation, actions: readonly AcquireIP[], round: number): Observation {
  const facts = world.providers.get("digitalocean");
  if (facts === undefined) throw new Error("no provider");
  const addresses = new Map(facts.addresses);
  const brought = actions.map((action, index) => {
    const ip = `198.51.${round}.${index + 1}`;
    const holderID = "node" in action.after ? action.after.node.machineID : undefined;
    addresses.set(...known(ip, holderID === undefined ? {} : { holderID }));
    return { name: action.object.name, ip, acquiredAt: new Date(NOW).toISOString() };
  });
  const pools = world.pools.map((pool) => {
    const own = brought.filter(({ name }) => name === pool.meta.name);
    return { ...pool, status: { ...pool.status, acquired: [...pool.status.acquired, ...own] } };
  });
  const addressCount = (facts.addressCount ?? 0) + actions.length;
  return { ...world, pools, providers: new Map([["digitalocean", { ...facts, addresses, addressCount }]]) };
}

/** What one plan does about the last free addresses of a world. */
function judged(world: Observation): {
  readonly purchases: readonly AcquireIP[];
  readonly left: number;
  /** How many objects without any are left without one, although they could have had it. */
  readonly starved: number;
  readonly kept: number;
  readonly first: number;
  readonly isGreedy: boolean;
  readonly isLimitReached: boolean;
  /** True where some object has no place for an address: the place may have gone to another one within this plan. */
  readonly isPlaceLacking: boolean;
} {
  const { actions, holds } = plan(world, {});
  const purchases = actions.filter((action) => action.kind === "acquire-ip");
  const { addressLimit = 0, addressCount = 0 } = world.providers.get("digitalocean") ?? {};
  const without = world.pools.filter(({ status }) => status.acquired.length === 0).map(({ meta }) => meta.name);
  const served = new Set(purchases.map(({ object }) => object.name));
  const held = holds.filter(({ kind }) => kind === "acquire-ip");
  // In these worlds only the limit, or the want of a place, keeps an object from its first address.
  const starved = held.filter(
    ({ reason, object: { name } }) => reason !== "NoRegion" && without.includes(name) && !served.has(name),
  );
  return {
    purchases,
    left: addressLimit - addressCount - purchases.length,
    starved: starved.length,
    kept: held.filter(({ detail }) => detail.includes("kept for")).length,
    first: without.filter((name) => served.has(name)).length,
    isGreedy: purchases.some(({ object, ordinal }) => ordinal > 1 || !without.includes(object.name)),
    isLimitReached: held.some(({ detail }) => detail.includes("is reached")),
    isPlaceLacking: held.some(({ reason }) => reason === "NoRegion"),
  };
}

function expectFair(found: ReturnType<typeof judged>, seed: number): void {
  const { left, starved, kept, isGreedy, isLimitReached, isPlaceLacking } = found;
  expect(left, `seed ${seed}`).toBeGreaterThanOrEqual(isGreedy ? starved : 0);
  expect(isLimitReached && left > 0, `seed ${seed}`).toBe(false);
  if (kept > 0 && !isPlaceLacking) expect(starved, `seed ${seed}`).toBeGreaterThanOrEqual(left);
}

test("no object gets another address while one without any could have had it, and none is left without need", () => {
  const seen = { kept: 0, first: 0 };
  for (let seed = 1; seed <= 1500; seed += 1) {
    let world = scarceWorld(seed);
    for (let round = 1; round < 8; round += 1) {
      const found = judged(world);
      expectFair(found, seed);
      seen.kept += found.kept;
      seen.first += found.first;
      if (found.purchases.length === 0) break;
      world = after(world, found.purchases, round);
    }
  }
  expect(seen.kept).toBeGreaterThan(100);
  expect(seen.first).toBeGreaterThan(500);
});
