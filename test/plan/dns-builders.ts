import {
  type DNSFacts,
  type RecordSetState,
  type RecordsFact,
  recordsKey,
  type Zone,
  type ZoneFact,
} from "../../src/model/dns.ts";
import type { RecordSet, RecordSetSpec, RecordSetStatus } from "../../src/model/resource.ts";
import { NOW } from "./builders.ts";

/** What a record set is built from. */
export interface RecordSetParts {
  readonly name?: string;
  readonly createdAtMs?: number;
  readonly isDeleting?: boolean;
  readonly finalizers?: readonly string[];
  readonly spec?: Partial<RecordSetSpec>;
  readonly status?: Partial<RecordSetStatus>;
}

/** The valid record set `ingress/nodes` that publishes every ready node's ExternalIP as nodes.example.com at DigitalOcean. */
export function aRecordSet({
  name = "nodes",
  createdAtMs = NOW - 86_400_000,
  isDeleting = false,
  finalizers = [],
  spec,
  status,
}: RecordSetParts = {}): RecordSet {
  return {
    meta: {
      namespace: "ingress",
      name,
      uid: name,
      resourceVersion: "9",
      generation: 1,
      createdAtMs,
      isDeleting,
      finalizers,
      labels: {},
    },
    spec: {
      provider: "",
      dnsRecordSet: { provider: "", zone: "example.com", recordName: "nodes", ttlSeconds: 60 },
      addressType: "ExternalIP",
      gracePeriodSeconds: 0,
      match: { nodeLabel: "", podNamespace: "", podLabel: "", tolerations: [] },
      whenEmpty: "Keep",
      reclaimPolicy: "Retain",
      suspend: false,
      ...spec,
    },
    status: { conditions: [], formerDNS: [], unreadyNodes: [], retries: [], ...status },
  };
}

/** The A records of a name with TTL 60. */
export function records(
  fqdn: string,
  addresses: readonly string[],
  rest: Partial<RecordSetState> = {},
): RecordSetState {
  const ttl = addresses.length === 0 ? {} : { ttlSeconds: 60 };
  return { fqdn, addresses: [...addresses].sort(), isTTLAutomatic: false, hasDuplicates: false, ...ttl, ...rest };
}

/** A usable DNS provider with the zone example.com and the given names; a name given as text could not be read. */
export function dnsFacts(
  names: Readonly<Record<string, readonly string[] | RecordSetState | string>>,
  rest: Partial<DNSFacts> & { readonly zone?: Zone; readonly zoneFact?: ZoneFact } = {},
): DNSFacts {
  const { zone = { id: "example.com", name: "example.com" }, zoneFact, ...override } = rest;
  const fact = (fqdn: string, value: readonly string[] | RecordSetState | string): RecordsFact => {
    if (typeof value === "string") return { kind: "gap", error: value, isRefused: false };
    return { kind: "known", records: "fqdn" in value ? value : records(fqdn, value) };
  };
  return {
    name: "digitalocean",
    ttlRules: { minimumSeconds: 30, maximumSeconds: 86_400 },
    isBatched: false,
    // Of the names that these tests are about, nobody else has any.
    isRehearsed: true,
    zones: new Map([["example.com", zoneFact ?? { kind: "known", zone }]]),
    records: new Map(Object.entries(names).map(([fqdn, value]) => [recordsKey(zone, fqdn), fact(fqdn, value)])),
    ...override,
  };
}

/** `spec.dnsRecordSet` of a pool: www.example.com at DigitalOcean, TTL 60. */
export const WWW = { provider: "digitalocean", zone: "example.com", recordName: "www", ttlSeconds: 60 };
