import type { AddressFact } from "../../src/model/address.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool } from "../../src/model/resource.ts";
import { aNode, anObservation, aPool, known, NOW } from "./builders.ts";
import { random } from "./random-world.ts";

/** An observation whose one provider is Hetzner, with these addresses. */
export function atHetzner(parts: {
  readonly pools: readonly Pool[];
  readonly nodes: readonly NodeFacts[];
  readonly addresses: readonly [string, AddressFact][];
}): Observation {
  const { pools, nodes, addresses } = parts;
  const account = { name: "hetzner", isComplete: true, readAtMs: NOW, addressCount: addresses.length };
  const providers = new Map([["hetzner", { ...account, addresses: new Map(addresses) }]]);
  return { ...anObservation({ pools, nodes }), providers };
}

/** A random world at Hetzner: three pools that allow none, one, two or three addresses on a node, four nodes and ten addresses, some of them beside each other. */
export function several(seed: number): Observation {
  const next = random(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
  const chance = (share: number): boolean => next() < share;
  const ips = Array.from({ length: 10 }, (_, index) => `203.0.113.${index + 10}`);
  const nodes = [1, 2, 3, 4].map((n) => {
    const shown = ips.filter(() => chance(0.15));
    return aNode({
      name: `n${n}`,
      providerID: `hcloud://${100 + n}`,
      labels: { "topology.kubernetes.io/region": pick(["fsn1", "fsn1", "nbg1"]) },
      ready: { isReady: chance(0.75), sinceMs: NOW - 60_000 },
      ...(shown.length > 0
        ? { addressAnnotation: shown.join(","), poolAnnotation: `ingress/p${pick([0, 1, 2])}` }
        : {}),
    });
  });
  const owned = new Map(ips.map((ip) => [ip, pick([0, 1, 2])]));
  const addresses = ips.map((ip) =>
    known(ip, { region: "fsn1", ...(chance(0.5) ? { holderID: String(pick([101, 102, 103, 104])) } : {}) }),
  );
  const pools = [0, 1, 2].map((index): Pool => {
    const maxPerNode = pick([undefined, 1, 2, 3]);
    const own = ips.filter((ip) => owned.get(ip) === index);
    const status = own
      .filter(() => chance(0.6))
      .map((ip) => {
        const n = pick([1, 2, 3, 4]);
        return [ip, { state: "active", nodeName: `n${n}`, providerID: `hcloud://${100 + n}` }] as const;
      });
    return aPool({
      name: `p${index}`,
      createdAtMs: NOW - index * 1000,
      spec: { provider: "hetzner", region: "fsn1", ips: own, ...(maxPerNode === undefined ? {} : { maxPerNode }) },
      status: { ips: Object.fromEntries(status) },
    });
  });
  return atHetzner({ pools, nodes, addresses });
}
