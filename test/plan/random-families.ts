import type { DNSFacts } from "../../src/model/dns.ts";
import type { NodeFacts, NodeMarks } from "../../src/model/node.ts";
import type { Observation, ProviderFacts } from "../../src/model/observation.ts";
import type { Pool } from "../../src/model/resource.ts";
import { randomDNSWorld } from "./random-dns-world.ts";

/** The source of the pools of IPv6. */
export const SIX = "digitalocean IPv6";

/** Begins the names of the pools of IPv6. */
const OWN_NAME = "six-";

/** True for an object of the IPv6 half of a world. */
export function isSix({ name }: { readonly name: string }): boolean {
  return name.startsWith(OWN_NAME);
}

/**
 * Returns a random world of both families: the pools, names and annotations of one random world, and on the same nodes those of another one, whose addresses are IPv6. Its names are
 * AAAA records. The IPv4 half alone is `randomDNSWorld(seed)`.
 */
export function randomFamilies(seed: number): Observation {
  const base = randomDNSWorld(seed);
  const other = inSix({ ...randomDNSWorld(seed + 500_000), recordSets: [] });
  const marks = new Map(other.nodes.map((node) => [node.name, marksOf(node)]));
  const [facts] = [...other.providers.values()];
  return {
    ...base,
    pools: [...base.pools, ...other.pools],
    nodes: base.nodes.map((node) => ({ ...node, ipv6: marks.get(node.name) ?? {} })),
    providers: new Map([...base.providers, ...(facts === undefined ? [] : [[SIX, { ...facts, name: SIX }] as const])]),
    dns: new Map([...base.dns].map(([name, own]) => [name, joined(own, other.dns.get(name))])),
  };
}

/** The same world while nothing of the IPv6 half answers. */
export function withSix(world: Observation, facts: Partial<ProviderFacts>): Observation {
  return {
    ...world,
    providers: new Map([...world.providers].map(([name, own]) => [name, name === SIX ? { ...own, ...facts } : own])),
  };
}

function marksOf({ addressAnnotation, poolAnnotation }: NodeFacts): NodeMarks {
  return {
    ...(addressAnnotation === undefined ? {} : { addressAnnotation }),
    ...(poolAnnotation === undefined ? {} : { poolAnnotation }),
  };
}

/** The records of one type beside those of the other, in the zone that both have. */
function joined(own: DNSFacts, other: DNSFacts | undefined): DNSFacts {
  return other === undefined ? own : { ...own, records: new Map([...own.records, ...other.records]) };
}

/** Turns every address, name and pool of a world into one of IPv6. */
function inSix(world: Observation): Observation {
  const text = (written: string): string =>
    written
      .replace(/\b203\.0\.113\.(\d+)\b/g, "2001:db8::$1")
      .replace(/^(.*\bexample\.com)$/, "$1 AAAA")
      .replace(/\bingress\/p(\d)\b/g, `ingress/${OWN_NAME}$1`);
  const turned = <T>(value: T): T => {
    if (typeof value === "string") return text(value) as T;
    if (value instanceof Map) return new Map([...value].map(([key, one]) => [turned(key), turned(one)])) as T;
    if (Array.isArray(value)) return value.map(turned) as T;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [text(key), turned(one)])) as T;
  };
  const pools = world.pools.map((pool): Pool => {
    const { spec, status, meta } = pool;
    const { dnsRecordSet, ...rest } = spec;
    return {
      ...pool,
      meta: { ...meta, name: meta.name.replace(/^p/, OWN_NAME), uid: `${OWN_NAME}${meta.uid}` },
      spec: { ...turned(rest), provider: SIX, ...(dnsRecordSet === undefined ? {} : { dnsRecordSet }) },
      status: withZones(turned(status)),
    };
  });
  const dns = new Map(
    [...world.dns].map(([name, facts]) => [
      name,
      { ...facts, records: new Map([...facts.records].map(([key, fact]) => [text(key), turned(fact)])) },
    ]),
  );
  return { ...world, pools, nodes: turned(world.nodes), providers: turned(world.providers), dns };
}

/** A zone has no type. */
function withZones(status: Pool["status"]): Pool["status"] {
  const zoned = <N extends { readonly zone: string }>(name: N): N => ({ ...name, zone: "example.com" });
  const { publishedDNS, formerDNS } = status;
  return {
    ...status,
    formerDNS: formerDNS.map(zoned),
    ...(publishedDNS === undefined ? {} : { publishedDNS: zoned(publishedDNS) }),
  };
}
