import type { History, WorldEvent } from "./history.ts";
import { Random } from "./random.ts";

/** The address that everything is right for. */
const GOOD = "203.0.113.1";
const GOOD_DROPLETS = [101, 102] as const;
/** When the pods begin to change, and for how long they do, milliseconds. */
const CHURN_FROM_MS = 20_000;
const CHURN_MS = 60_000;
/** Four pod changes a second. */
const PERIOD_MS = 250;
/** Where each of six nodes changes every three seconds, milliseconds. */
const SLOW_PERIOD_MS = 500;
/** A full look every ten seconds, the failover and what is tried anew take 24 calls at most; asking at every change would take hundreds. */
const MOST_CALLS = 50;
/** The statuses of two objects: what concerns the failover at once, and what only people read of the pods a few times at once, and then every ten seconds. */
const MOST_STATUSES = 40;
/** How long the address of a lost node may take to move, milliseconds: no call takes longer than a hang of another provider. */
const FAILOVER_MS = 2000;
/** How often what lasts may fail: more often than anybody asks. */
const FOR_EVER = 1_000_000;

const WWW = { zone: "example.com", recordName: "www" };

/** What stays wrong beside it for the whole history, one at a time. */
const WORLDS: readonly ((random: Random) => readonly WorldEvent[])[] = [
  // A world that is imperfect for ever.
  () => [pool("p1", { ips: ["203.0.113.9"] })],
  () => [pool("p1", { ips: ["203.0.113"] })],
  () => [{ atMs: 0, kind: "cloud", quota: 1 }, pool("p1", { desiredIPs: 2, region: "nyc3" })],
  () => [pool("p1", { desiredIPs: 2, region: "nyc3" }), lasting({ side: "cloud", operation: "create", how: "422" })],
  (random) => [recordSet(random.pick(["digitalocean", "cloudflare"]), "exmaple.com")],
  () => [recordSet("cloudflare", "example.com"), lasting({ side: "dns", operation: "*", how: "401" })],
  () => [recordSet("cloudflare", "example.com"), lasting({ side: "dns", operation: "write", how: "422" })],
  () => [pool("p1", { ips: ["203.0.113.9"] }), lasting({ side: "cluster", operation: "event", how: "forbidden" })],
  () => [lasting({ side: "cluster", operation: "annotate", how: "forbidden" })],
  // An API server that refuses what our own parser lets through.
  () => [
    pool("p1", { desiredIPs: 1, region: "nyc3" }),
    lasting({ side: "cluster", operation: "list-pods", subject: "|app=web", how: "400" }),
  ],
  // A neighbour that hangs.
  (random) => [
    recordSet("cloudflare", "example.com"),
    lasting({ side: "dns", operation: random.pick(["*", "zone", "records"]), how: "timeout" }),
  ],
];

/** What follows the pods that never rest, one at a time. */
const FOLLOWERS: readonly ((random: Random) => readonly WorldEvent[])[] = [
  () => [address("203.0.113.2"), pool("p1", { ips: ["203.0.113.2"] })],
  () => [address("203.0.113.2"), address("203.0.113.3"), pool("p1", { ips: ["203.0.113.2", "203.0.113.3"] })],
  (random) => {
    const dnsRecordSet = { ...WWW, provider: random.pick(["digitalocean", "cloudflare"]) };
    const ips = ["203.0.113.2", "203.0.113.3"];
    return [...ips.map(address), pool("p1", { ips, dnsRecordSet })];
  },
  (random) => [recordSet(random.pick(["digitalocean", "cloudflare"]), "example.com")],
];

/** What changes four times a second. */
export const RESTLESS = ["pod", "ready", "cordon"] as const;

/**
 * The history of {@link lastingHistory} in which nothing is wrong, but addresses and names follow the pods, or the nodes themselves, that change four times a second: they cost
 * no more calls, and no more statuses, and the address of the lost node moves as soon.
 */
export function restlessHistory(seed: number, what: (typeof RESTLESS)[number]): History {
  return lastingHistory(seed, FOLLOWERS, what);
}

/**
 * The history of a seed in which something stays wrong while pods change four times a second, and a node of a healthy pool is lost: its address moves at once, and nobody
 * asks a provider again about something that the cluster cannot have changed. Processes are to watch. In the second half of each two rounds of worlds the pods change half as
 * often, and rest in between: those that never do have to wait with their return, and then hide what a change of the cluster must not cause.
 */
export function lastingHistory(
  seed: number,
  worlds: typeof WORLDS = WORLDS,
  what: (typeof RESTLESS)[number] = "pod",
): History {
  const random = new Random(seed ^ 0x7f4a7c15);
  const lostAtMs = CHURN_FROM_MS + random.between(5000, CHURN_MS - 10_000);
  const world = worlds[seed % worlds.length] ?? (() => []);
  const isSlow = worlds === WORLDS && Math.floor(seed / worlds.length) % 2 === 1;
  const others = isSlow ? ["n3", "n4", "n5", "n6", "n7", "n8"] : ["n3", "n4"];
  const events: readonly WorldEvent[] = [
    ...GOOD_DROPLETS.flatMap((droplet, index) => node(`n${index + 1}`, droplet, "good")),
    ...others.flatMap((name, index) => node(name, 103 + index, "other")),
    address(GOOD),
    {
      atMs: 0,
      kind: "pool",
      name: "p0",
      spec: { provider: "digitalocean", ips: [GOOD], match: { nodeLabel: "role=good" } },
    },
    ...world(random),
    { atMs: CHURN_FROM_MS, kind: "expect-on", ip: GOOD, droplets: GOOD_DROPLETS },
    { atMs: CHURN_FROM_MS, kind: "count-calls" },
    ...(isSlow ? slowChurn(others) : restlessChurn(random, others, what)),
    // By its name the first one has the address.
    { atMs: lostAtMs, kind: "ready", name: "n1", value: false },
    { atMs: lostAtMs + FAILOVER_MS, kind: "expect-on", ip: GOOD, droplets: [102] },
    { atMs: CHURN_FROM_MS + CHURN_MS, kind: "expect-calls", most: MOST_CALLS, mostStatuses: MOST_STATUSES },
  ];
  return {
    seed,
    hasLock: random.chance(0.5),
    slots: [{ pauseMs: 1000, startsAtMs: 0, timeoutMs: 45_000, settles: false, onLocked: "wait" }],
    latencyMs: random.pick([0, 40, 150]),
    endsAtMs: CHURN_FROM_MS + CHURN_MS + 5000,
    events: events.toSorted((a, b) => a.atMs - b.atMs),
  };
}

/** Pods or nodes that never rest: their nodes wait with their return. */
function restlessChurn(
  random: Random,
  nodes: readonly string[],
  what: (typeof RESTLESS)[number],
): readonly WorldEvent[] {
  return Array.from({ length: CHURN_MS / PERIOD_MS }, (_, index): WorldEvent => {
    const atMs = CHURN_FROM_MS + index * PERIOD_MS;
    const node = random.pick(nodes);
    const isGood = index % 2 === 0;
    if (what === "pod") return { atMs, kind: what, node, isReady: isGood };
    return { atMs, kind: what, name: node, value: what === "ready" ? isGood : !isGood };
  });
}

/** As many changes, of pods that rest long enough in between to count; half of them are ready while the others are not. */
function slowChurn(nodes: readonly string[]): readonly WorldEvent[] {
  return Array.from({ length: CHURN_MS / SLOW_PERIOD_MS }, (_, index): WorldEvent => {
    const atMs = CHURN_FROM_MS + index * SLOW_PERIOD_MS;
    const isReady = (Math.floor(index / nodes.length) + index) % 2 === 1;
    return { atMs, kind: "pod", node: nodes[index % nodes.length] ?? "", isReady };
  });
}

function address(ip: string): WorldEvent {
  return { atMs: 0, kind: "address", ip, on: null, region: "nyc3", isBYOIP: false };
}

function node(name: string, droplet: number, role: string): readonly WorldEvent[] {
  return [
    { atMs: 0, kind: "droplet", id: droplet, region: "nyc3" },
    { atMs: 0, kind: "node", name, droplet, region: "nyc3", isReady: true, role },
    { atMs: 0, kind: "pod", node: name, isReady: true },
  ];
}

/** A pool of the other nodes; what it matches by changes all the time. */
function pool(name: string, spec: Partial<Extract<WorldEvent, { kind: "pool" }>["spec"]>): WorldEvent {
  const match = { nodeLabel: "role=other", podLabel: "app=web", ...spec.match };
  return { atMs: 0, kind: "pool", name, spec: { provider: "digitalocean", ...spec, match } };
}

function recordSet(provider: string, zone: string): WorldEvent {
  const match = { nodeLabel: "role=other", podLabel: "app=web" };
  const dnsRecordSet = { provider, zone, recordName: "www" };
  return { atMs: 0, kind: "record-set", name: "r0", spec: { dnsRecordSet, addressType: "ExternalIP", match } };
}

function lasting(fault: Omit<Extract<WorldEvent, { kind: "fault" }>, "atMs" | "kind" | "times">): WorldEvent {
  return { atMs: 0, kind: "fault", times: FOR_EVER, ...fault };
}
