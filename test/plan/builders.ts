import { PROVIDERS } from "../../src/adapters/registry.ts";
import type { Address, AddressFact } from "../../src/model/address.ts";
import type { DNSFacts } from "../../src/model/dns.ts";
import type { FirewallFacts } from "../../src/model/firewall.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation, ProviderFacts } from "../../src/model/observation.ts";
import type { Pool, PoolSpec, PoolStatus, RecordSet } from "../../src/model/resource.ts";

/** The instant of every built observation. */
export const NOW: number = Date.parse("2026-08-01T12:00:00Z");

/** A ready node `n1` on droplet 101 in nyc3. */
export function aNode(override: Partial<NodeFacts> & { readonly droplet?: number } = {}): NodeFacts {
  const { droplet = 101, ...rest } = override;
  return {
    name: "n1",
    resourceVersion: "1",
    providerID: `digitalocean://${droplet}`,
    labels: { "topology.kubernetes.io/region": "nyc3" },
    taints: [],
    ready: { isReady: true, sinceMs: NOW - 3_600_000 },
    isDeleting: false,
    addresses: [],
    ...rest,
  };
}

/** Nodes n1…nN on droplets 101…. */
export function nodes(count: number): NodeFacts[] {
  return Array.from({ length: count }, (_, index) => aNode({ name: `n${index + 1}`, droplet: 101 + index }));
}

/** What a pool is built from. */
export interface PoolParts {
  readonly name?: string;
  readonly createdAtMs?: number;
  readonly isDeleting?: boolean;
  readonly finalizers?: readonly string[];
  readonly spec?: Partial<PoolSpec>;
  readonly status?: Partial<PoolStatus>;
}

/** The valid pool `ingress/web` that matches every ready node. */
export function aPool({
  name = "web",
  createdAtMs = NOW - 86_400_000,
  isDeleting = false,
  finalizers = [],
  spec,
  status,
}: PoolParts = {}): Pool {
  return {
    kind: "pool",
    meta: {
      namespace: "ingress",
      name,
      uid: name,
      resourceVersion: "7",
      generation: 1,
      createdAtMs,
      isDeleting,
      finalizers,
      labels: {},
    },
    spec: {
      provider: "digitalocean",
      region: "nyc3",
      ips: [],
      desiredIPs: 0,
      assignmentCoolOffSeconds: 0,
      gracePeriodSeconds: 0,
      match: { nodeLabel: "", podNamespace: "", podLabel: "", tolerations: [] },
      reclaimPolicy: "Retain",
      foreignHolder: "Hold",
      suspend: false,
      ...spec,
    },
    status: {
      conditions: [],
      ips: {},
      assignableNodes: [],
      nodeErrors: [],
      acquired: [],
      pendingAcquisitions: [],
      released: [],
      retries: [],
      formerDNS: [],
      ...status,
    },
  };
}

/** An unattached, unlocked address in nyc3 as a fact. */
export function known(ip: string, override: Partial<Address> = {}): [string, AddressFact] {
  return [ip, { kind: "known", address: { ip, region: "nyc3", isLocked: false, ...override } }];
}

/** A usable DigitalOcean whose whole list was read. */
function digitalocean(
  addresses: readonly [string, AddressFact][],
  override: Partial<ProviderFacts> = {},
): ProviderFacts {
  return {
    name: "digitalocean",
    addresses: new Map(addresses),
    isComplete: true,
    readAtMs: NOW,
    addressCount: addresses.length,
    ...override,
  };
}

/** An observation of one usable provider. */
export function anObservation(parts: {
  readonly pools?: readonly Pool[];
  readonly recordSets?: readonly RecordSet[];
  readonly dns?: readonly DNSFacts[];
  readonly nodes?: readonly NodeFacts[];
  readonly addresses?: readonly [string, AddressFact][];
  readonly provider?: Partial<ProviderFacts>;
  readonly pods?: Observation["pods"];
  readonly firewalls?: readonly FirewallFacts[];
  readonly lease?: Partial<Observation["lease"]>;
}): Observation {
  return {
    observedAtMs: NOW,
    nodesReadAtMs: NOW,
    cluster: "https://cluster.example",
    registry: PROVIDERS,
    pools: parts.pools ?? [],
    recordSets: parts.recordSets ?? [],
    missingKinds: [],
    firewalls: new Map((parts.firewalls ?? []).map((facts) => [facts.name, facts])),
    dns: new Map((parts.dns ?? []).map((facts) => [facts.name, facts])),
    nodes: parts.nodes ?? [],
    pods: parts.pods ?? new Map(),
    providers: new Map([["digitalocean", digitalocean(parts.addresses ?? [], parts.provider)]]),
    lease: { acquisitionTimesMs: [], providerNotBeforeMs: new Map(), lookFrom: new Map(), ...parts.lease },
  };
}
