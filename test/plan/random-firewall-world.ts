import type { AddressFact } from "../../src/model/address.ts";
import type { Firewall, FirewallFact } from "../../src/model/firewall.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool, RoutedIPStatus } from "../../src/model/resource.ts";
import { anObservation, known, NOW, nodes } from "./builders.ts";
import { dnsFacts } from "./dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts } from "./firewall-builders.ts";
import { random } from "./random-world.ts";

const PORTS = ["tcp/80", "tcp/443", "udp/53", "tcp/8000-9000"];
const MACHINES = ["101", "102", "103", "104", "105"];

/** The same world at a provider that replaces firewalls as a whole, and shows which other ones a machine is behind: none, some, or some that are not in force. */
export function randomWholeFirewallWorld(seed: number): Observation {
  const next = random(seed * 31 + 7);
  const world = randomFirewallWorld(seed);
  const count = (): number => Math.max(0, Math.floor(next() * 7) - 2);
  const changed = new Map<string, Firewall>();
  const withOthers = (firewall: Firewall): Firewall => {
    const seen = MACHINES.filter(() => next() > 0.05);
    const made: Firewall = {
      ...firewall,
      ...(next() < 0.1 ? { isUnlabelled: true } : {}),
      ...(next() < 0.1 ? { limitsOutgoing: true } : {}),
      othersAt: new Map(seen.map((machine) => [machine, { inForce: count(), pending: next() < 0.8 ? 0 : 1 }])),
    };
    changed.set(firewall.id, made);
    return made;
  };
  const of = (fact: FirewallFact): FirewallFact =>
    fact.kind === "known" ? { ...fact, firewall: changed.get(fact.firewall.id) ?? withOthers(fact.firewall) } : fact;
  const firewalls = [...world.firewalls].map(([name, facts]) => {
    const known = new Map([...facts.firewalls].map(([key, fact]) => [key, of(fact)]));
    return [name, { ...facts, limits: { ...facts.limits, perMachine: 5 }, firewalls: known }] as const;
  });
  return { ...world, firewalls: new Map(firewalls) };
}

/** Some RoutedIPs on one or two firewalls, each in any state that a history can leave: partly open, partly on record, moving, deleted, suspended. */
export function randomFirewallWorld(seed: number): Observation {
  const next = random(seed);
  const some = <T>(list: readonly T[], share: number): readonly T[] => list.filter(() => next() < share);
  const one = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const firewalls = ["web", "other"].map((name) => {
    const open = some(PORTS, 0.5);
    const machineIDs = some(MACHINES, 0.5);
    const isFull = next() < 0.05;
    return aFirewall({
      id: `fw-${name}`,
      name,
      open,
      machineIDs,
      ...(isFull ? { ruleCount: 50 } : {}),
      isWaiting: next() > 0.97,
      pendingMachineIDs: some(MACHINES, 0.1),
    });
  });
  const placed = (ip: string, machine: string | undefined): RoutedIPStatus["ips"] =>
    machine === undefined
      ? {}
      : { [ip]: { state: "active", nodeName: `n${Number(machine) - 100}`, providerID: `digitalocean://${machine}` } };
  const addresses: [string, AddressFact][] = [];
  const free = [...MACHINES];
  const pools = Array.from({ length: 1 + Math.floor(next() * 4) }, (_, index): Pool => {
    const ip = `203.0.113.${index + 1}`;
    const machine = next() < 0.6 ? free.shift() : undefined;
    addresses.push(known(ip, machine === undefined ? {} : { holderID: machine }));
    const isDeleting = next() < 0.2;
    const reclaimPolicy = one(["Delete", "Delete", "Retain"] as const);
    const recorded = some(firewalls, 0.6)
      .map(({ id, name }) => ({
        provider: "digitalocean",
        id,
        name,
        ports: some(PORTS, 0.4),
        machineIDs: some(MACHINES, 0.3),
      }))
      .filter(({ ports, machineIDs }) => ports.length + machineIDs.length > 0);
    const pool = aRoutedIP({
      name: `v${index}`,
      createdAtMs: NOW - 1000 * (9 - index),
      firewall: one(["web", "web", "other", "missing", ""]),
      ports: some(PORTS, 0.5),
      isDeleting,
      finalizers: isDeleting ? ["flipop.digitalocean.com/cleanup"] : [],
      spec: {
        reclaimPolicy,
        suspend: next() < 0.1,
        dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: `v${index}`, ttlSeconds: 60 },
      },
      status: {
        acquired: [{ ip, acquiredAt: "2026-07-01T00:00:00Z" }],
        ips: placed(ip, machine),
        ...(recorded.length === 0 ? {} : { firewalls: recorded }),
      },
    });
    return pool;
  });
  const names = Object.fromEntries(
    pools.map(({ status, meta }) => [`${meta.name}.example.com`, some(Object.keys(status.ips), 0.5)]),
  );
  const missing = new Map([["missing", { kind: "gone" as const }]]);
  const facts = firewallFacts(firewalls, some(MACHINES, 0.1));
  return anObservation({
    pools,
    nodes: nodes(5).map((node) => ({ ...node, ready: { isReady: next() > 0.3, sinceMs: NOW - 60_000 } })),
    addresses,
    dns: [dnsFacts(Object.fromEntries(Object.entries(names).map(([name, ips]) => [name, [...ips]])))],
    firewalls: [{ ...facts, firewalls: new Map([...missing, ...facts.firewalls]) }],
  });
}
