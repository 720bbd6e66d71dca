import { type DNSFacts, type RecordSetState, type RecordsFact, recordsKey, type Zone } from "../../src/model/dns.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool, RecordSet } from "../../src/model/resource.ts";
import { aReadyCondition, PUBLISHED } from "./dns-plans.ts";
import { afterFailure, aNode, anObservation, aPool, aRecordSet } from "./world.ts";

const ZONE: Zone = { id: "023e105f4ecef8ad9ca31a8372d0c353", name: "example.net" };
const DOMAIN: Zone = { id: "example.com", name: "example.com" };

/**
 * {@link afterFailure} with names: the pool web publishes www.example.com at DigitalOcean, as it was before worker-1 failed;
 * the record set nodes publishes nodes.example.net at Cloudflare and was renamed; another wants the pool's name.
 */
export function afterFailureWithDNS(): Observation {
  const world = afterFailure();
  return {
    ...world,
    pools: world.pools.map(withName),
    nodes: world.nodes.map(withAddress),
    recordSets: recordSets(),
    dns: new Map([
      [
        "digitalocean",
        facts("digitalocean", DOMAIN, [records("www.example.com", ["203.0.113.10", "203.0.113.11"], 30)]),
      ],
      [
        "cloudflare",
        facts("cloudflare", ZONE, [records("nodes.example.net", []), records("old.example.net", ["192.0.2.1"], 300)]),
      ],
    ]),
  };
}

/** A pool that publishes www.example.com and has one address of three: two of its nodes wait for new ones. */
export function beforePurchase(): Observation {
  const publishedDNS = {
    provider: "digitalocean",
    zone: "example.com",
    name: "www.example.com",
    addresses: ["203.0.113.10"],
  };
  const web = aPool("web", ["203.0.113.10"], {
    spec: {
      desiredIPs: 3,
      dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "www", ttlSeconds: 60 },
    },
    status: {
      publishedDNS,
      ips: { "203.0.113.10": { state: "active", nodeName: "worker-1", providerID: "digitalocean://1" } },
    },
  });
  const first = aNode(1, { addressAnnotation: "203.0.113.10", poolAnnotation: "ingress/web" });
  return {
    ...anObservation([web], [first, aNode(2), aNode(3)], { "203.0.113.10": "1" }),
    dns: new Map([["digitalocean", facts("digitalocean", DOMAIN, [records("www.example.com", ["203.0.113.10"], 60)])]]),
  };
}

function withName(pool: Pool): Pool {
  if (pool.meta.name !== "web") return pool;
  const publishedDNS = {
    provider: "digitalocean",
    zone: "example.com",
    name: "www.example.com",
    addresses: ["203.0.113.10", "203.0.113.11"],
  };
  const dnsRecordSet = { provider: "digitalocean", zone: "example.com", recordName: "www", ttlSeconds: 60 };
  return { ...pool, spec: { ...pool.spec, dnsRecordSet }, status: { ...pool.status, publishedDNS } };
}

function withAddress(node: NodeFacts): NodeFacts {
  return { ...node, addresses: [{ type: "ExternalIP", address: node.name.replace("worker-", "192.0.2.") }] };
}

function recordSets(): readonly RecordSet[] {
  const dnsRecordSet = { provider: "", zone: "example.net", recordName: "nodes", ttlSeconds: 300 };
  const old = { provider: "cloudflare", zone: "example.net", name: "old.example.net", addresses: ["192.0.2.1"] };
  return [
    aRecordSet("nodes", {
      spec: { provider: "cloudflare", dnsRecordSet, reclaimPolicy: "Delete" },
      status: {
        ...PUBLISHED,
        conditions: [aReadyCondition("False", "DNSPending", "nodes.example.net is not written yet.")],
        state: "in-progress",
        publishedDNS: old,
      },
    }),
    aRecordSet("rival", {
      spec: { dnsRecordSet: { provider: "", zone: "example.com", recordName: "www.example.com", ttlSeconds: 60 } },
      status: { conditions: [aReadyCondition("False", "Conflict", "www.example.com: Another object owns it.")] },
    }),
  ];
}

function records(fqdn: string, addresses: readonly string[], ttlSeconds?: number): RecordSetState {
  const state = { fqdn, addresses, isTTLAutomatic: false, hasDuplicates: false };
  return ttlSeconds === undefined ? state : { ...state, ttlSeconds };
}

function facts(name: string, zone: Zone, read: readonly RecordSetState[]): DNSFacts {
  return {
    name,
    ttlRules:
      name === "cloudflare"
        ? { minimumSeconds: 60, maximumSeconds: 86_400, automaticSeconds: 1 }
        : { minimumSeconds: 30, maximumSeconds: 86_400 },
    isBatched: name === "cloudflare",
    isRehearsed: true,
    zones: new Map([[zone.name ?? "", { kind: "known", zone }]]),
    records: new Map(
      read.map((state): [string, RecordsFact] => [recordsKey(zone, state.fqdn), { kind: "known", records: state }]),
    ),
  };
}
