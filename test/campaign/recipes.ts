import type { AddressSource } from "../../src/model/address-source.ts";
import { ADDRESS_ANNOTATION, IPV6_ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import { ip, ipv6 } from "../scenario/scenario-names.ts";
import type { KindName } from "./kinds.ts";
import { ABSENT, type Spec } from "./spec-value.ts";

/** A value that the schema admits and flipop cannot use, and what its message must contain. */
export interface Unusable {
  readonly value: unknown;
  readonly says: string;
  /** What else the spec has then, without which the value would not be needed. */
  readonly beside?: Spec;
}

/** What the schema cannot tell about the values of a field. */
export interface Recipe {
  /** Values with a meaning in the world of the campaigns, at least two where the world has them; absent, null, empty, minimum and enum members come from the schema. */
  readonly ordinary: readonly unknown[];
  readonly unusable?: readonly Unusable[];
  /** What else the spec has while this field is looked at, so that its values differ in what they do. */
  readonly beside?: Spec;
}

const TOLERATE_DEDICATED = { key: "dedicated", operator: "Equal", value: "edge", effect: "NoSchedule" };
const TOLERATE_GPU = { key: "gpu", operator: "Exists" };

const NO_PLACE = "invalid dnsRecordSet specification";

const NOTHING: readonly Unusable[] = [
  { value: ABSENT, says: NO_PLACE },
  { value: "", says: NO_PLACE },
];

const BAD_ZONE: readonly Unusable[] = [
  ...NOTHING,
  { value: "nosuch.example", says: "zone nosuch.example" },
  { value: "no zone!", says: 'zone "no zone!"' },
];

const MATCH: Readonly<Record<string, Recipe>> = {
  match: { ordinary: [{ nodeLabel: "role=edge" }, { podNamespace: "shop", podLabel: "app=web" }] },
  "match.nodeLabel": {
    ordinary: ["role=edge", "role in (edge,core),!draining", "role=nothing"],
    unusable: [{ value: "role in (", says: "Error parsing node selector: " }],
  },
  "match.podNamespace": { ordinary: ["shop", "back", "nowhere"] },
  "match.podLabel": {
    ordinary: ["app=web", "app=api"],
    unusable: [{ value: "app in (", says: "Error parsing pod selector: " }],
  },
  "match.tolerations": { ordinary: [[TOLERATE_DEDICATED], [TOLERATE_DEDICATED, TOLERATE_GPU]] },
  "match.tolerations[].key": { ordinary: ["dedicated", "gpu"] },
  "match.tolerations[].operator": { ordinary: ["Equal", "Exists"] },
  "match.tolerations[].value": { ordinary: ["edge", "core"] },
  "match.tolerations[].effect": { ordinary: ["NoSchedule", "NoExecute"] },
  "match.tolerations[].tolerationSeconds": { ordinary: [-1, 60] },
};

/** The two objects never ask for one name: who gets it is settled by who had it first. */
function place(names: readonly string[]): Readonly<Record<string, Recipe>> {
  return {
    "dnsRecordSet.zone": { ordinary: ["example.com", "example.net"], unusable: BAD_ZONE },
    "dnsRecordSet.recordName": {
      ordinary: names,
      unusable: [...NOTHING, { value: "bad name", says: 'recordName "bad name"' }],
    },
    "dnsRecordSet.ttl": { ordinary: [1, 60, 300] },
  };
}

const DNS_PROVIDERS = {
  ordinary: ["digitalocean", "cloudflare"],
  unusable: [{ value: "somecloud", says: 'unknown provider "somecloud"' }],
} as const;

/** Recipes by kind and path. */
export type Recipes = Readonly<Record<KindName, Readonly<Record<string, Recipe>>>>;

/** Specs by kind. */
export type Bases = Readonly<Record<KindName, Spec>>;

/** What `ips` may say in a pool of IPv4. */
const IPV4_LISTS: Recipe = {
  ordinary: [[ip(1)], [ip(1), ip(2)], [ip(3), ip(2)]],
  unusable: [
    { value: [ip(1), "203.0.113.02"], says: '"203.0.113.02" is not a canonical IPv4 address' },
    { value: [ip(1), ipv6(1)], says: `"${ipv6(1)}" is an IPv6 address: spec.ipFamily would have to be IPv6` },
    { value: [ip(1), ip(99)], says: ip(99) },
    { value: [ip(1), ip(8)], says: "owned by pool shop/other" },
    { value: [ip(1), ip(50)], says: "spec.foreignHolder" },
    { value: [ip(1), ip(1)], says: ip(1) },
  ],
};

/** What it may say in a pool of IPv6: there an address has many forms. */
const IPV6_LISTS: Recipe = {
  ordinary: [[ipv6(1)], [ipv6(1), "2001:0DB8:66:2:0:0:0:1"], ["2001:db8:66:3:0::0.0.0.1", ipv6(2)]],
  unusable: [
    { value: [ipv6(1), "2001:db8:66:::2"], says: '"2001:db8:66:::2" is not an IPv6 address' },
    { value: [ipv6(1), "::ffff:203.0.113.2"], says: '"::ffff:203.0.113.2" is not an IPv6 address' },
    { value: [ipv6(1), ip(1)], says: `"${ip(1)}" is an IPv4 address: spec.ipFamily would have to be IPv4` },
    { value: [ipv6(1), ipv6(99)], says: ipv6(99) },
    { value: [ipv6(1), ipv6(8).toUpperCase()], says: "owned by pool shop/other6" },
    { value: [ipv6(1), ipv6(50)], says: "spec.foreignHolder" },
    { value: [ipv6(1), "2001:0db8:66:1::1"], says: ipv6(1) },
  ],
};

/**
 * Recipes by kind and path for pools whose addresses come from a source. A text or a list of the schema that has none fails a test, which asks for it; of everything
 * else the schema tells enough.
 */
export function recipesOf({ provider, family }: AddressSource): Recipes {
  const isIPv4 = family === "IPv4";
  const address = isIPv4 ? ip : ipv6;
  return {
    FloatingIPPool: {
      provider: {
        ordinary: [provider],
        unusable: [
          { value: "", says: 'unknown provider ""' },
          { value: "somecloud", says: 'unknown provider "somecloud"' },
          { value: "cloudflare", says: 'provider "cloudflare" does not provide floating IPs' },
        ],
      },
      region: { ordinary: ["nyc3", "ams3"], unusable: [{ value: "mars1", says: "mars1", beside: { desiredIPs: 6 } }] },
      ips: isIPv4 ? IPV4_LISTS : IPV6_LISTS,
      ipFamily: { ordinary: [], beside: { ips: [], desiredIPs: 2 } },
      desiredIPs: { ordinary: [1, 2, 3] },
      assignmentCoolOffSeconds: { ordinary: [0.5, 3600] },
      ...MATCH,
      dnsRecordSet: {
        ordinary: [
          { zone: "example.com", recordName: "www" },
          { provider: "cloudflare", zone: "example.net", recordName: "api", ttl: 300 },
        ],
        unusable: [{ value: {}, says: NO_PLACE }],
      },
      "dnsRecordSet.provider": DNS_PROVIDERS,
      ...place(["www", "@", "a.b"]),
      gracePeriodSeconds: { ordinary: [0.5, 300] },
      maxUnavailable: {
        ordinary: [1, 3, "1%", "100%"],
        unusable: [
          { value: 0, says: "spec.maxUnavailable must be" },
          { value: -1, says: "spec.maxUnavailable must be" },
          { value: "0%", says: "spec.maxUnavailable must be" },
          { value: "101%", says: "spec.maxUnavailable must be" },
          { value: "one", says: "spec.maxUnavailable must be" },
          { value: "", says: "spec.maxUnavailable must be" },
        ],
      },
      drainSeconds: { ordinary: [0.5, 600] },
      maxPerNode: { ordinary: [1, 2] },
      foreignHolder: { ordinary: [], beside: { ips: [address(1), address(50)], desiredIPs: 2 } },
    },
    NodeDNSRecordSet: {
      provider: DNS_PROVIDERS,
      addressType: {
        ordinary: ["ExternalIP", "InternalIP", ADDRESS_ANNOTATION, IPV6_ADDRESS_ANNOTATION],
        unusable: [{ value: "Hostname", says: 'invalid addressType "Hostname"' }],
        // With a list it could be only one of the annotations.
        beside: { ipFamilies: [] },
      },
      ipFamilies: {
        ordinary: [["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv6", "IPv4"]],
        unusable: [
          { value: ["IPv5"], says: 'ipFamilies "IPv5" must be IPv4 or IPv6' },
          { value: ["IPv6", "IPv6"], says: "ipFamilies names a family twice" },
          {
            value: ["IPv4", "IPv6"],
            says: "ipFamilies IPv4 needs addressType ExternalIP or InternalIP",
            beside: { addressType: IPV6_ADDRESS_ANNOTATION },
          },
        ],
      },
      ...MATCH,
      dnsRecordSet: {
        ordinary: [
          { zone: "example.com", recordName: "nodes" },
          { zone: "example.net", recordName: "all", ttl: 300 },
        ],
        unusable: [{ value: {}, says: NO_PLACE }],
      },
      "dnsRecordSet.provider": DNS_PROVIDERS,
      ...place(["nodes", "Full.Example.COM", "*.all"]),
      gracePeriodSeconds: { ordinary: [0.5, 300] },
      whenEmpty: { ordinary: [], beside: { match: { nodeLabel: "role=nothing" } } },
    },
  };
}

/** What the other fields of a spec are while one is looked at, for pools whose addresses come from a source. Beside a pool of IPv6 the record set has both families. */
export function basesOf({ provider, family }: AddressSource): Bases {
  const isIPv4 = family === "IPv4";
  const match = { nodeLabel: "role=edge", tolerations: [TOLERATE_DEDICATED] };
  return {
    FloatingIPPool: {
      provider,
      ...(isIPv4 ? {} : { ipFamily: family }),
      region: "nyc3",
      ips: isIPv4 ? [ip(1), ip(2)] : [ipv6(1), ipv6(2)],
      desiredIPs: 3,
      match,
      dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "www", ttl: 60 },
    },
    NodeDNSRecordSet: {
      ...(isIPv4 ? {} : { ipFamilies: ["IPv4", "IPv6"] }),
      match,
      dnsRecordSet: { zone: "example.com", recordName: "nodes", ttl: 60 },
    },
  };
}

const USUAL: AddressSource = { provider: "digitalocean", family: "IPv4" };

/** {@link recipesOf} for pools of IPv4 at DigitalOcean. */
export const RECIPES: Recipes = recipesOf(USUAL);

/** {@link basesOf} for them. */
export const BASES: Bases = basesOf(USUAL);
