import { type DNSFacts, recordsKey, type Zone } from "../../src/model/dns.ts";
import {
  type Firewall,
  type FirewallFact,
  type FirewallFacts,
  type FirewallRule,
  parsePortText,
} from "../../src/model/firewall.ts";
import { type NodeFacts, podSelectorKey } from "../../src/model/node.ts";
import { IP_FAMILIES } from "../../src/model/node-annotations.ts";
import type { Observation, PodReading, PodSummary } from "../../src/model/observation.ts";
import { objectKey, type RoutedIPStatus } from "../../src/model/resource.ts";
import type { RoutedIP, RoutedIPIssuer, RoutedIPIssuerSpec, RoutedIPSpec } from "../../src/model/routed-ip.ts";
import type { ServiceFacts } from "../../src/model/service.ts";
import { routedPool } from "../../src/plan/addresses/routed-pool.ts";
import { IN_FORCE } from "../plan/firewall-builders.ts";
import { aReadyCondition } from "./dns-plans.ts";
import { aNode, anObservation, aPool, NOW_MS } from "./world.ts";

/** What a test says of a RoutedIP. */
export interface RoutedIPChanges {
  readonly spec?: Partial<RoutedIPSpec>;
  readonly status?: Partial<RoutedIPStatus>;
  readonly namespace?: string;
  readonly isDeleting?: boolean;
}

/** A RoutedIP of the issuer `public` for the Service of its own name, never reconciled. */
export function aRoutedIP(name: string, changes: RoutedIPChanges = {}): RoutedIP {
  const { namespace = "ingress", isDeleting = false } = changes;
  const { meta, status } = aPool(name, [], { namespace });
  return {
    meta: { ...meta, isDeleting },
    spec: {
      issuer: "public",
      address: "",
      serviceName: name,
      ports: [],
      gracePeriodSeconds: 0,
      foreignHolder: "Hold",
      suspend: false,
      ...changes.spec,
    },
    status: { ...status, ...changes.status },
  };
}

/** An issuer at DigitalOcean without firewall. */
export function anIssuer(name: string, spec: Partial<RoutedIPIssuerSpec> = {}, namespace = "ingress"): RoutedIPIssuer {
  return {
    meta: aPool(name, [], { namespace }).meta,
    spec: {
      provider: "digitalocean",
      region: "ams3",
      reclaimPolicy: "Retain",
      firewallName: "",
      nodeLabel: "",
      tolerations: [],
      ...spec,
    },
  };
}

/** A NodePort Service whose pods have the label `app` with its name; `ports` are TCP node ports. */
export function aService(name: string, ports: readonly number[], namespace = "ingress"): ServiceFacts {
  return {
    namespace,
    name,
    resourceVersion: "1",
    type: "NodePort",
    selector: { app: name },
    ports: ports.map((nodePort, at) => ({ protocol: "TCP", port: 80 + at, nodePort })),
  };
}

/** A settled firewall named as its id, with what it lets in and the machines attached to it. */
export function aFirewall(name: string, ports: readonly string[], machineIDs: readonly string[]): Firewall {
  const rules = ports.flatMap((text): FirewallRule[] => {
    const range = parsePortText(text);
    return range === undefined ? [] : [{ ports: range, openTo: IP_FAMILIES, isPlain: true }];
  });
  return { id: `id-${name}`, name, rules, ruleCount: rules.length, machineIDs, tags: [], ...IN_FORCE };
}

/** What was read of these firewalls, and of others by the name that was asked for. */
export function firewallFacts(
  firewalls: readonly Firewall[],
  others: Readonly<Record<string, FirewallFact>> = {},
): FirewallFacts {
  const facts = firewalls.flatMap((firewall): [string, FirewallFact][] => {
    const fact: FirewallFact = { kind: "known", firewall, taggedMachineIDs: new Set() };
    return [
      [firewall.name, fact],
      [firewall.id, fact],
    ];
  });
  return {
    name: "digitalocean",
    limits: { rules: 50, machines: 10 },
    firewalls: new Map([...facts, ...Object.entries(others)]),
  };
}

/** Everything of a cluster that routed IPs need. */
export interface RoutedFacts {
  readonly routedIPs: readonly RoutedIP[];
  readonly issuers: readonly RoutedIPIssuer[];
  readonly services: readonly ServiceFacts[];
  /** `NAMESPACE/SERVICE` → nodes that run its ready pods. */
  readonly podsOn: Readonly<Record<string, readonly string[]>>;
  readonly firewalls?: FirewallFacts;
}

/** An observation with routed IPs beside what it has. */
export function withRoutedIPs(world: Observation, facts: RoutedFacts): Observation {
  const references = {
    issuers: new Map(facts.issuers.map((issuer) => [objectKey(issuer.meta), issuer])),
    services: new Map(facts.services.map((service) => [objectKey(service), service])),
  };
  const ready: PodSummary = { ready: 1, notReady: 0 };
  const pods = facts.services.map((service): [string, PodReading] => {
    const nodes = facts.podsOn[objectKey(service)] ?? [];
    const label = Object.entries(service.selector)
      .map(([key, value]) => `${key}=${value}`)
      .join(",");
    const byNode = new Map(nodes.map((name) => [name, ready]));
    return [podSelectorKey({ namespace: service.namespace, label }), { kind: "read", byNode }];
  });
  return {
    ...world,
    pools: [...world.pools, ...facts.routedIPs.map((routedIP) => routedPool(routedIP, references))],
    pods: new Map([...world.pods, ...pods]),
    firewalls: facts.firewalls === undefined ? world.firewalls : new Map([["digitalocean", facts.firewalls]]),
  };
}

/** A status with an address on a worker, whose droplet has the worker's number. */
export function onWorker(ip: string, worker: number, changes: Partial<RoutedIPStatus> = {}): Partial<RoutedIPStatus> {
  const place = { nodeName: `worker-${worker}`, providerID: `digitalocean://${worker}` };
  return { ips: { [ip]: { state: "active", ...place } }, conditions: [aReadyCondition("True")], ...changes };
}

/** The routed IPs of {@link afterRoutedFailure}. */
export const ROUTED_FACTS: RoutedFacts = {
  routedIPs: [
    aRoutedIP("mail", {
      spec: { address: "203.0.113.40", dnsRecordSet: mailName() },
      status: onWorker("203.0.113.40", 1, {
        firewalls: [{ provider: "digitalocean", id: "id-edge", name: "edge", ports: ["tcp/30025"], machineIDs: ["1"] }],
      }),
    }),
    aRoutedIP("steady", {
      spec: { issuer: "plain", address: "203.0.113.41" },
      status: onWorker("203.0.113.41", 3),
    }),
    aRoutedIP("vip", { spec: { issuer: "nobody", address: "203.0.113.42" } }),
    aRoutedIP("web", {
      spec: { issuer: "lost", address: "203.0.113.43" },
      status: {
        conditions: [aReadyCondition("False", "FirewallNotFound", "The account has no such firewall. (gone)")],
        retries: [
          { subject: "ip/203.0.113.43", attempts: 2, nextAttemptTime: "2026-08-01T12:00:10Z", error: "refused" },
        ],
      },
    }),
  ],
  issuers: [
    anIssuer("public", { firewallName: "edge" }),
    anIssuer("plain"),
    anIssuer("lost", { firewallName: "gone" }),
  ],
  services: [
    aService("mail", [30587]),
    aService("steady", [30080]),
    aService("vip", [30081]),
    aService("web", [30443]),
  ],
  podsOn: {
    "ingress/mail": ["worker-2", "worker-4"],
    "ingress/steady": ["worker-3", "worker-4"],
    "ingress/web": ["worker-4"],
  },
  firewalls: firewallFacts([aFirewall("edge", ["tcp/30025", "tcp/22"], ["1"])], { gone: { kind: "gone" } }),
};

function mailName(): NonNullable<RoutedIPSpec["dnsRecordSet"]> {
  return { provider: "digitalocean", zone: "example.org", recordName: "mail", ttlSeconds: 60 };
}

/**
 * A cluster with four routed IPs and no pool: mail was on worker-1, which failed, and its Service has another port now; steady is as it should be; vip names an
 * issuer that there is none of; the firewall of web's issuer is gone.
 */
export function afterRoutedFailure(): Observation {
  const failed: Partial<NodeFacts> = {
    ready: { isReady: false, sinceMs: NOW_MS - 60_000 },
    addressAnnotation: "203.0.113.40",
    poolAnnotation: "routedip/ingress/mail",
  };
  const nodes = [
    aNode(1, failed),
    aNode(2),
    aNode(3, { addressAnnotation: "203.0.113.41", poolAnnotation: "routedip/ingress/steady" }),
    aNode(4),
  ];
  const holders = { "203.0.113.40": "1", "203.0.113.41": "3", "203.0.113.42": undefined, "203.0.113.43": undefined };
  const world = withRoutedIPs(anObservation([], nodes, holders), ROUTED_FACTS);
  return { ...world, dns: new Map([["digitalocean", mailRecords()]]) };
}

function mailRecords(): DNSFacts {
  const zone: Zone = { id: "example.org", name: "example.org" };
  const records = {
    fqdn: "mail.example.org",
    addresses: ["203.0.113.40"],
    ttlSeconds: 60,
    isTTLAutomatic: false,
    hasDuplicates: false,
  };
  return {
    name: "digitalocean",
    ttlRules: { minimumSeconds: 30, maximumSeconds: 86_400 },
    isBatched: false,
    isRehearsed: true,
    zones: new Map([["example.org", { kind: "known", zone }]]),
    records: new Map([[recordsKey(zone, records.fqdn), { kind: "known", records }]]),
  };
}
