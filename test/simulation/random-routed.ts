import type { WorldEvent } from "./history.ts";
import type { Random } from "./random.ts";
import { dnsSpec } from "./random-dns.ts";
import { LISTED } from "./random-pool.ts";
import type { FirewallEdit, IssuerSpecText, RoutedIPSpecText } from "./routed-event.ts";

/** Names of the RoutedIPs, of their issuers and Services, and of the firewalls; all in namespace shop. */
export const ROUTED_IPS = ["v0", "v1", "v2"] as const;
export const ISSUERS = ["cloud", "edge"] as const;
export const SERVICES = ["web", "bare"] as const;
const FIREWALLS = ["fw0", "fw0", "fw1", "k8s-own"] as const;

const PORTS = ["tcp/30080", "tcp/30080", "tcp/30443", "udp/30053", "tcp/30000-30999", "icmp"] as const;
const EDITS: readonly FirewallEdit[] = [
  "open",
  "open",
  "close",
  "close",
  "widen",
  "narrow",
  "attach",
  "attach",
  "detach",
  "detach",
  "tag",
  "fill",
  "clear",
  "delete",
];

/** The spec of an issuer as somebody could write it. */
export function issuerSpec(random: Random): IssuerSpecText {
  return {
    provider: "digitalocean",
    ...(random.chance(0.9) ? { region: "nyc3" } : {}),
    ...(random.chance(0.7) ? { routedIPReclaimPolicy: random.pick(["Retain", "Delete", "Delete"] as const) } : {}),
    ...(random.chance(0.9) ? { routedIPFirewallName: random.pick(["fw0", "fw0", "fw0", "fw1", "k8s-own"]) } : {}),
    ...(random.chance(0.3) ? { nodeLabel: "role=edge" } : {}),
  };
}

/** A change of an issuer. */
function issuerEdit(random: Random): Readonly<Partial<Record<keyof IssuerSpecText, unknown>>> {
  const roll = random.between(1, 10);
  if (roll <= 6) return { routedIPFirewallName: random.pick(["fw0", "fw1", "fw1", "", "k8s-own", "none"]) };
  if (roll <= 8) return { routedIPReclaimPolicy: random.pick(["Retain", "Delete"]) };
  return { nodeLabel: random.pick(["role=edge", ""]) };
}

/** The spec of a RoutedIP as somebody could write it. */
export function routedIPSpec(random: Random, mayHaveDNS: boolean): RoutedIPSpecText {
  return {
    issuer: random.chance(0.85) ? "cloud" : "edge",
    serviceName: random.chance(0.8) ? "web" : "bare",
    ...(random.chance(0.3) ? { address: random.pick(LISTED) } : {}),
    ...(random.chance(0.35) ? { ports: somePorts(random) } : {}),
    ...(random.chance(0.3) ? { gracePeriodSeconds: random.pick([5, 30, 90]) } : {}),
    ...(random.chance(0.3) ? { foreignHolder: "TakeOver" } : {}),
    ...(random.chance(0.05) ? { suspend: true } : {}),
    ...(mayHaveDNS && random.chance(0.5) ? { dnsRecordSet: dnsSpec(random) } : {}),
  };
}

/** A change of a RoutedIP. */
function routedIPEdit(random: Random): Readonly<Partial<Record<keyof RoutedIPSpecText, unknown>>> {
  const roll = random.between(1, 10);
  if (roll <= 4) return { ports: random.chance(0.3) ? null : somePorts(random) };
  if (roll <= 5) return { suspend: random.chance(0.5) };
  if (roll <= 6) return { issuer: random.pick(["cloud", "edge", "nobody"]) };
  if (roll <= 8) return { serviceName: random.pick(["web", "bare"]) };
  if (roll === 9) return { gracePeriodSeconds: random.pick([0, 5, 30]) };
  return { suspend: false };
}

function somePorts(random: Random): readonly { readonly protocol: string; readonly port?: string }[] {
  const texts = [...new Set(Array.from({ length: random.between(1, 3) }, () => random.pick(PORTS)))];
  return texts.map((text) => {
    const [protocol = "", port] = text.toUpperCase().split("/");
    return { protocol, ...(port === undefined ? {} : { port }) };
  });
}

/** A Service, with the pods of all nodes or with those of none, or without a selector. */
export function serviceEvent(random: Random, name: (typeof SERVICES)[number], atMs: number): WorldEvent {
  const app = name === "bare" ? null : random.chance(0.95) ? "web" : "none";
  const others = [30_443, 30_053].filter(() => random.chance(0.4));
  const ports = others.length > 0 && random.chance(0.2) ? others : [30_080, ...others];
  return { atMs, kind: "service", name, app, ports };
}

/** Where a Service without selector is served. */
export function endpointsEvent(random: Random, atMs: number): WorldEvent {
  const names = Array.from({ length: 6 }, (_, index) => `n${index + 1}`).filter(() => random.chance(0.5));
  return {
    atMs,
    kind: "endpoints",
    service: "bare",
    nodes: Object.fromEntries(names.map((name) => [name, random.chance(0.8)])),
  };
}

interface Choices {
  readonly atMs: number;
  readonly name: (typeof ROUTED_IPS)[number];
  readonly issuer: (typeof ISSUERS)[number];
  readonly mayHaveDNS: boolean;
}

type Make = (random: Random, choices: Choices) => readonly WorldEvent[];

/** What can happen to RoutedIPs and firewalls, with how often among a hundred. */
const KINDS: readonly (readonly [weight: number, make: Make])[] = [
  [16, (random, { name, atMs }) => [{ atMs, kind: "edit-routed-ip", name, spec: routedIPEdit(random) }]],
  [6, (_, { name, atMs }) => [{ atMs, kind: "delete-routed-ip", name }]],
  [
    8,
    (random, { name, atMs, mayHaveDNS }) => [{ atMs, kind: "routed-ip", name, spec: routedIPSpec(random, mayHaveDNS) }],
  ],
  [1, (_, { name, atMs }) => [{ atMs, kind: "wipe-routed-ip", name }]],
  [
    1,
    (random, { name, atMs }) => [
      { atMs, kind: "spoil-status", object: "routedIPs", name, how: "lose", pick: random.between(0, 99) },
    ],
  ],
  [8, (random, { issuer, atMs }) => [{ atMs, kind: "edit-issuer", name: issuer, spec: issuerEdit(random) }]],
  [4, comesAndGoes],
  [10, (random, { atMs }) => [serviceEvent(random, random.pick(SERVICES), atMs)]],
  [6, (random, { atMs }) => [endpointsEvent(random, atMs)]],
  [12, (random, { atMs }) => [{ atMs, kind: "pod", node: `n${random.between(1, 6)}`, isReady: random.chance(0.5) }]],
  [25, (random, { atMs }) => [handEdit(random, atMs)]],
  [
    3,
    (random, { atMs }) => [
      { atMs, kind: "firewall", name: random.pick(FIREWALLS), open: [random.pick(PORTS)], droplets: [] },
    ],
  ],
];

/** Something that happens to RoutedIPs, to what they refer to, or to a firewall. */
export function routedHappening(random: Random, endsAtMs: number, mayHaveDNS: boolean): readonly WorldEvent[] {
  const choices: Choices = {
    atMs: random.between(1, endsAtMs),
    name: random.pick(ROUTED_IPS),
    issuer: random.pick(["cloud", "cloud", "edge"]),
    mayHaveDNS,
  };
  let roll = random.between(1, 100);
  for (const [weight, make] of KINDS) {
    roll -= weight;
    if (roll <= 0) return make(random, choices);
  }
  return [];
}

/** An issuer or a Service goes, and mostly comes back. */
function comesAndGoes(random: Random, { issuer, atMs }: Choices): readonly WorldEvent[] {
  const backMs = atMs + random.between(1, 40) * 1000;
  const isIssuer = random.chance(0.5);
  const gone: WorldEvent = isIssuer
    ? { atMs, kind: "delete-issuer", name: issuer }
    : { atMs, kind: "delete-service", name: "web" };
  if (random.chance(0.2)) return [gone];
  const back: WorldEvent = isIssuer
    ? { atMs: backMs, kind: "issuer", name: issuer, spec: issuerSpec(random) }
    : serviceEvent(random, "web", backMs);
  return [gone, back];
}

function handEdit(random: Random, atMs: number): WorldEvent {
  return {
    atMs,
    kind: "hand-firewall",
    name: random.pick(["fw0", "fw0", "fw1"]),
    edit: random.pick(EDITS),
    ports: random.pick(PORTS),
    droplet: 100 + random.between(1, 7),
  };
}
