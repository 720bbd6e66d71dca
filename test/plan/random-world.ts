import type { AddressFact } from "../../src/model/address.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { IPState, Pool } from "../../src/model/resource.ts";
import { aNode, anObservation, aPool, known, NOW } from "./builders.ts";

/** A small seeded generator (mulberry32): the same seed gives the same world. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A random world of three pools, six nodes and eight addresses. */
export function randomWorld(seed: number): Observation {
  const next = random(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
  const chance = (share: number): boolean => next() < share;
  const ips = Array.from({ length: 8 }, (_, index) => `203.0.113.${index + 1}`);
  const nodes = Array.from({ length: 6 }, (_, index) =>
    aNode({
      name: `n${index + 1}`,
      droplet: 101 + index,
      ready: { isReady: chance(0.7), sinceMs: NOW - Math.floor(next() * 60_000) },
      isDeleting: chance(0.1),
      labels: { "topology.kubernetes.io/region": chance(0.9) ? "nyc3" : "ams3" },
      ...(chance(0.4)
        ? { addressAnnotation: pick(ips), ...(chance(0.7) ? { poolAnnotation: `ingress/p${pick([0, 1, 2, 9])}` } : {}) }
        : {}),
    }),
  );
  const facts = ips.map((ip): [string, AddressFact] => {
    if (chance(0.1)) return [ip, { kind: "gap", error: "500" }];
    if (chance(0.1)) return [ip, { kind: "gone" }];
    return known(ip, {
      isLocked: chance(0.1),
      ...(chance(0.5) ? { holderID: String(pick([101, 102, 103, 104, 105, 106, 999])) } : {}),
    });
  });
  const holders = new Set<string>();
  const addresses = facts.map(([ip, fact]): [string, AddressFact] => {
    if (fact.kind !== "known" || fact.address.holderID === undefined) return [ip, fact];
    if (holders.has(fact.address.holderID)) return known(ip);
    holders.add(fact.address.holderID);
    return [ip, fact];
  });
  const states: readonly IPState[] = ["active", "in-progress", "error", "no-match", "unassigned", "disabled"];
  const pools = [0, 1, 2].map((index): Pool => {
    const own = ips.filter(() => chance(0.4));
    const acquired = chance(0.3) ? [{ ip: pick(ips), acquiredAt: new Date(NOW - 1000).toISOString() }] : [];
    return aPool({
      name: `p${index}`,
      createdAtMs: NOW - Math.floor(next() * 3) * 1000,
      isDeleting: chance(0.1),
      finalizers: chance(0.3) ? ["flipop.digitalocean.com/cleanup"] : [],
      spec: {
        ips: own,
        desiredIPs: chance(0.5) ? Math.floor(next() * 5) : 0,
        gracePeriodSeconds: pick([0, 30]),
        assignmentCoolOffSeconds: pick([0, 20]),
        suspend: chance(0.1),
        reclaimPolicy: pick(["Retain", "Delete"]),
        foreignHolder: pick(["Hold", "TakeOver"]),
      },
      status: {
        acquired,
        ips: Object.fromEntries(
          own
            .filter(() => chance(0.6))
            .map((ip) => {
              const n = pick([1, 2, 3, 4, 5, 6]);
              return [ip, { state: pick(states), nodeName: `n${n}`, providerID: `digitalocean://${100 + n}` }];
            }),
        ),
      },
    });
  });
  return anObservation({ pools, nodes, addresses, provider: { addressCount: 8, addressLimit: pick([8, 9, 20]) } });
}
