import {
  type Firewall,
  type FirewallFacts,
  type FirewallMemory,
  type PortRange,
  parsePortText,
} from "../../src/model/firewall.ts";
import { IP_FAMILIES } from "../../src/model/node-annotations.ts";
import type { Pool, RoutedIPStatus } from "../../src/model/resource.ts";
import { aPool, type PoolParts } from "./builders.ts";

/** Ranges as {@link parsePortText} reads them. @throws Error for text that is none */
function portsOf(...texts: readonly string[]): readonly PortRange[] {
  return texts.map((text) => {
    const range = parsePortText(text);
    if (range === undefined) throw new Error(`"${text}" is no range of ports`);
    return range;
  });
}

/** Of a firewall of which every machine has everything. */
export const IN_FORCE = { isWaiting: false, pendingMachineIDs: [], failedMachineIDs: [] } as const;

/** The firewall `web` with id `fw-web`: plain rules for the ports of `open`, and `machineIDs`. */
export function aFirewall({
  open = [],
  ...override
}: Partial<Firewall> & { readonly open?: readonly string[] } = {}): Firewall {
  const rules = portsOf(...open).map((ports) => ({ ports, openTo: IP_FAMILIES, isPlain: true }));
  return {
    id: "fw-web",
    name: "web",
    rules,
    ruleCount: rules.length,
    machineIDs: [],
    tags: [],
    ...IN_FORCE,
    ...override,
  };
}

/** DigitalOcean with these firewalls, each asked for by its name, and by its id. */
export function firewallFacts(firewalls: readonly Firewall[], tagged: readonly string[] = []): FirewallFacts {
  const facts = firewalls.flatMap((firewall) => {
    const fact = { kind: "known", firewall, taggedMachineIDs: new Set(tagged) } as const;
    return [[firewall.name, fact] as const, [firewall.id, fact] as const];
  });
  return { name: "digitalocean", limits: { rules: 50, machines: 10 }, firewalls: new Map(facts) };
}

/** The firewalls of an account that has no others: `web` is gone where it is not among them. */
export function onlyThese(firewalls: readonly Firewall[]): FirewallFacts {
  const facts = firewallFacts(firewalls);
  return { ...facts, firewalls: new Map([["web", { kind: "gone" }], ...facts.firewalls]) };
}

/** What is on record at the firewall `web`. */
export function memoryOf(ports: readonly string[], machineIDs: readonly string[]): FirewallMemory {
  return { provider: "digitalocean", id: "fw-web", name: "web", ports, machineIDs };
}

/** What a RoutedIP is built from; `ports` are wanted at the firewall `web`, or `firewall`. */
export interface RoutedParts extends Omit<PoolParts, "status"> {
  readonly ports?: readonly string[];
  readonly firewall?: string;
  readonly unusable?: readonly string[];
  readonly status?: Partial<RoutedIPStatus>;
}

/** The RoutedIP `ingress/vip` that matches every ready node and opens tcp/80. */
export function aRoutedIP({ ports = ["tcp/80"], firewall = "web", unusable = [], ...parts }: RoutedParts = {}): Pool {
  const { spec, ...rest } = parts;
  const pool = aPool({ name: "vip", ...rest, spec: { desiredIPs: 1, region: "", ...spec } });
  const wish = { provider: "digitalocean", firewall, ports: portsOf(...ports), unusable };
  const issuer = { provider: "digitalocean", reclaimPolicy: pool.spec.reclaimPolicy };
  return { ...pool, kind: "routedip", issuer, ...(firewall === "" ? {} : { firewall: wish }) };
}
