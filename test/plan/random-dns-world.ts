import type { Observation } from "../../src/model/observation.ts";
import type { DNSMemory, Pool, PublishedName, RecordSet } from "../../src/model/resource.ts";
import { NOW } from "./builders.ts";
import { aRecordSet, dnsFacts, records } from "./dns-builders.ts";
import { random, randomWorld } from "./random-world.ts";

const NAMES = ["www", "api", "old", "@"] as const;
const fqdnOf = (name: string): string => (name === "@" ? "example.com" : `${name}.example.com`);

/** A random world whose pools and two record sets publish, published, or left names in one zone at DigitalOcean. */
export function randomDNSWorld(seed: number): Observation {
  const base = randomWorld(seed);
  const next = random(seed + 1_000_000);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
  const chance = (share: number): boolean => next() < share;
  const ips = Array.from({ length: 8 }, (_, index) => `203.0.113.${index + 1}`);
  const some = (share: number): readonly string[] => ips.filter(() => chance(share));
  const published = (): PublishedName => ({
    provider: "digitalocean",
    zone: "example.com",
    name: fqdnOf(pick(NAMES)),
    addresses: some(0.4),
  });
  const memory = (): DNSMemory => ({
    ...(chance(0.6) ? { publishedDNS: published() } : {}),
    formerDNS: chance(0.3) ? [published()] : [],
  });
  const wish = () => ({
    provider: "digitalocean",
    zone: "example.com",
    recordName: pick(NAMES),
    ttlSeconds: pick([20, 60]),
  });
  const pools = base.pools.map((pool): Pool => {
    const { dnsRecordSet: _none, ...spec } = pool.spec;
    return {
      ...pool,
      spec: { ...spec, ...(chance(0.8) ? { dnsRecordSet: wish() } : {}) },
      status: { ...pool.status, ...memory() },
    };
  });
  const recordSets = [0, 1].map(
    (index): RecordSet =>
      aRecordSet({
        name: `r${index}`,
        createdAtMs: NOW - Math.floor(next() * 3) * 1000,
        isDeleting: chance(0.1),
        finalizers: chance(0.3) ? ["flipop.digitalocean.com/cleanup"] : [],
        spec: {
          dnsRecordSet: wish(),
          addressType: pick(["ExternalIP", "flipop.digitalocean.com/ipv4-reserved-ip"]),
          gracePeriodSeconds: pick([0, 30]),
          whenEmpty: pick(["Keep", "Delete"]),
          reclaimPolicy: pick(["Retain", "Delete"]),
          suspend: chance(0.1),
        },
        status: memory(),
      }),
  );
  const found = NAMES.map(fqdnOf).map((fqdn) => {
    const ttlSeconds = pick([30, 60, 300]);
    const set = records(fqdn, some(0.4), { hasDuplicates: chance(0.1) });
    return [fqdn, chance(0.1) ? "500" : { ...set, ...(set.addresses.length > 0 ? { ttlSeconds } : {}) }] as const;
  });
  const nodes = base.nodes.map((node, index) => ({
    ...node,
    addresses: [{ type: "ExternalIP", address: `198.51.100.${index + 1}` }],
  }));
  const dns = dnsFacts(Object.fromEntries(found), chance(0.05) ? { zoneFact: { kind: "missing" } } : {});
  return { ...base, pools, recordSets, nodes, dns: new Map([["digitalocean", dns]]) };
}
