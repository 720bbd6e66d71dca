import type { DNSProviderName, WorldEvent } from "./history.ts";
import type { Random } from "./random.ts";

/** Addresses of what follows the nodes. */
const IPS = ["203.0.113.2", "203.0.113.3"] as const;
const MATCH = { nodeLabel: "role=other", podLabel: "app=web" };
const WWW = { zone: "example.com", recordName: "www", ttl: 60 };

/** Where something changes all the time. */
export interface Place {
  readonly random: Random;
  /** Names of nodes, two or more. */
  readonly nodes: readonly string[];
  /** What stands there, of {@link Churn.followers}. */
  readonly followers: readonly WorldEvent[];
}

/** One change of a row; every other one takes away what the one before gave. */
interface Turn extends Place {
  readonly atMs: number;
  /** Counted from 0; the last one is odd. */
  readonly index: number;
  readonly isGood: boolean;
}

/** Something that never rests. */
export interface Churn {
  /** Milliseconds from one change to the next. */
  readonly periodMs: number;
  /** What follows it, one at a time. */
  readonly followers: readonly ((random: Random) => readonly WorldEvent[])[];
  readonly turn: (turn: Turn) => readonly WorldEvent[];
  /** Absent = as in every minute in which the cluster changes. */
  readonly mostCalls?: number;
  readonly mostStatuses?: number;
}

const PERIOD_MS = 250;
/** A status for each node, or object, that is made or deleted. */
const EACH = 300;

/** What follows pods and nodes. */
const OF_NODES: Churn["followers"] = [
  () => poolOf([IPS[0]]),
  () => poolOf(IPS),
  (random) => poolOf(IPS, { dnsRecordSet: { ...WWW, provider: aProvider(random) } }),
  (random) => [recordSetOf(aProvider(random))],
];
const OF_OBJECTS: Churn["followers"] = OF_NODES.slice(1);
const WITH_GRACE: Churn["followers"] = [
  ...OF_NODES,
  () => poolOf([IPS[0]], { gracePeriodSeconds: 10 }),
  (random) => [recordSetOf(aProvider(random), { gracePeriodSeconds: 10 })],
];

/** The name of something that never rests. */
export type Restless =
  | "pod"
  | "ready"
  | "cordon"
  | "label of nodes"
  | "label of pods"
  | "address of nodes"
  | "node made again"
  | "machine of a node"
  | "annotation"
  | "spec"
  | "object made again"
  | "ports";

/** What changes all the time, by name. */
export const CHURNS: Readonly<Record<Restless, Churn>> = {
  pod: ofNodes(({ atMs, isGood }, node) => ({ atMs, kind: "pod", node, isReady: isGood })),
  ready: ofNodes(({ atMs, isGood }, name) => ({ atMs, kind: "ready", name, value: isGood })),
  cordon: ofNodes(({ atMs, isGood }, name) => ({ atMs, kind: "cordon", name, value: !isGood }), WITH_GRACE),
  "label of nodes": ofNodes(
    ({ atMs, isGood }, name) => ({ atMs, kind: "role", name, value: isGood ? "other" : "away" }),
    WITH_GRACE,
  ),
  "label of pods": {
    mostStatuses: 60,
    ...ofNodes(({ atMs, isGood }, node) => ({
      atMs,
      kind: "pod-label",
      node,
      app: isGood ? "web" : "away",
    })),
  },
  "address of nodes": ofNodes(
    ({ atMs, isGood, random }, name) => {
      const number = Number(name.slice(1));
      const external = isGood ? [100 + number] : random.pick([[], [150 + number]]);
      return { atMs, kind: "node-addresses", name, external: external.map((one) => `198.51.100.${one}`) };
    },
    [(random) => [recordSetOf(aProvider(random))]],
  ),
  "node made again": {
    periodMs: PERIOD_MS,
    mostStatuses: EACH,
    followers: WITH_GRACE,
    turn: ({ atMs, index, isGood, nodes, random }) => {
      const at = Math.floor(index / 2) % nodes.length;
      const name = nodes[at] ?? "";
      if (!isGood) return [{ atMs, kind: "delete-node", name, isHeld: false }];
      return nodeOf(name, 103 + at + random.pick([0, 10]), atMs);
    },
  },
  "machine of a node": {
    periodMs: PERIOD_MS,
    mostCalls: 70,
    mostStatuses: EACH,
    followers: OF_NODES,
    turn: ({ atMs, index, nodes }) => {
      const at = Math.floor(index / 2) % nodes.length;
      return nodeOf(nodes[at] ?? "", 103 + at + 10 * (index % 2), atMs);
    },
  },
  annotation: ofNodes(({ atMs }, name) => ({ atMs, kind: "annotate", name, address: null, pool: null }), OF_OBJECTS),
  spec: {
    periodMs: PERIOD_MS,
    followers: OF_OBJECTS,
    turn: ({ atMs, isGood, followers }) =>
      followers.flatMap((event) => (isObject(event) ? edited(event, isGood, atMs) : [])),
  },
  "object made again": {
    periodMs: 3000,
    mostCalls: 90,
    followers: OF_OBJECTS,
    turn: ({ atMs, isGood, followers }) =>
      followers.filter(isObject).map((event): WorldEvent => {
        if (isGood) return { ...event, atMs };
        return { atMs, kind: event.kind === "pool" ? "delete-pool" : "delete-record-set", name: event.name };
      }),
  },
  ports: {
    periodMs: PERIOD_MS,
    followers: [() => routedIP()],
    turn: ({ atMs, isGood }) => [
      {
        atMs,
        kind: "edit-routed-ip",
        name: "v0",
        spec: { ports: [{ protocol: "tcp", port: isGood ? 30_080 : 30_443 }] },
      },
    ],
  },
};

type OfObject = Extract<WorldEvent, { kind: "pool" | "record-set" }>;

function isObject(event: WorldEvent): event is OfObject {
  return event.kind === "pool" || event.kind === "record-set";
}

function ofNodes(change: (turn: Turn, node: string) => WorldEvent, followers: Churn["followers"] = OF_NODES): Churn {
  return { periodMs: PERIOD_MS, followers, turn: (turn) => [change(turn, turn.random.pick(turn.nodes))] };
}

/** Somebody has another opinion on one field. */
function edited({ kind, name, spec }: OfObject, isGood: boolean, atMs: number): readonly WorldEvent[] {
  const dnsRecordSet = spec.dnsRecordSet && { ...spec.dnsRecordSet, ttl: isGood ? 60 : 120 };
  const match = { nodeLabel: isGood ? "role=other" : "role=good" };
  if (kind === "record-set") return [{ atMs, kind: "edit-record-set", name, spec: { dnsRecordSet, match } }];
  const ips = isGood ? spec.ips : spec.ips?.slice(0, 1);
  return [{ atMs, kind: "edit", name, spec: { ips, ...(dnsRecordSet === undefined ? {} : { dnsRecordSet }) } }];
}

function aProvider(random: Random): DNSProviderName {
  return random.pick(["digitalocean", "cloudflare"]);
}

export function addressOf(ip: string): WorldEvent {
  return { atMs: 0, kind: "address", ip, on: null, region: "nyc3", isBYOIP: false };
}

export function nodeOf(name: string, droplet: number, atMs: number, role = "other"): readonly WorldEvent[] {
  return [
    { atMs, kind: "droplet", id: droplet, region: "nyc3" },
    { atMs, kind: "node", name, droplet, region: "nyc3", isReady: true, role },
    { atMs, kind: "pod", node: name, isReady: true },
  ];
}

type PoolText = Extract<WorldEvent, { kind: "pool" }>["spec"];
type RecordSetText = Extract<WorldEvent, { kind: "record-set" }>["spec"];

function poolOf(ips: readonly string[], more: Partial<PoolText> = {}): readonly WorldEvent[] {
  const spec = { provider: "digitalocean", ips, match: MATCH, ...more };
  return [...ips.map(addressOf), { atMs: 0, kind: "pool", name: "p1", spec }];
}

function recordSetOf(provider: DNSProviderName, more: Partial<RecordSetText> = {}): WorldEvent {
  const spec = { dnsRecordSet: { ...WWW, provider }, addressType: "ExternalIP", match: MATCH, ...more };
  return { atMs: 0, kind: "record-set", name: "r0", spec };
}

function routedIP(): readonly WorldEvent[] {
  const atMs = 0;
  return [
    addressOf(IPS[0]),
    { atMs, kind: "firewall", name: "fw0", open: ["tcp/22"], droplets: [] },
    { atMs, kind: "service", name: "web", app: "web", ports: [30_080] },
    {
      atMs,
      kind: "issuer",
      name: "i0",
      spec: { provider: "digitalocean", region: "nyc3", routedIPFirewallName: "fw0", nodeLabel: MATCH.nodeLabel },
    },
    {
      atMs,
      kind: "routed-ip",
      name: "v0",
      spec: { issuer: "i0", serviceName: "web", address: IPS[0], ports: [{ protocol: "tcp", port: 30_080 }] },
    },
  ];
}
