import type { History, WorldEvent } from "./history.ts";
import { Random } from "./random.ts";
import { addressOf, CHURNS, type Churn, nodeOf, type Place, type Restless } from "./restless-churns.ts";

/** The address that everything is right for. */
const GOOD = "203.0.113.1";
const GOOD_DROPLETS = [101, 102] as const;
/** When the pods begin to change, and for how long they do, milliseconds. */
const CHURN_FROM_MS = 20_000;
const CHURN_MS = 60_000;
/** After so long all follows again what has come to rest, milliseconds: two seconds until it counts, and a move. */
const RESTED_MS = 4000;
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

/**
 * The history of a seed of either kind: after two rounds of {@link WORLDS} follow as many seeds of {@link restlessHistory}, each with something else that never rests, and
 * so on.
 */
export function anyLastingHistory(seed: number): History {
  if (Math.floor(seed / (2 * WORLDS.length)) % 2 === 0) return lastingHistory(seed);
  const names = Object.keys(CHURNS) as Restless[];
  return restlessHistory(Math.floor(seed / names.length), names[seed % names.length] ?? "pod");
}

/**
 * The history of {@link lastingHistory} in which nothing is wrong, but addresses and names follow something that never rests: they cost no more calls, and no more statuses, the
 * address of the lost node moves as soon, and a moment after all rests every address is on a machine.
 */
export function restlessHistory(seed: number, what: Restless): History {
  return lastingHistory(seed, CHURNS[what].followers, CHURNS[what]);
}

/**
 * The history of a seed in which something stays wrong while pods change four times a second, and a node of a healthy pool is lost: its address moves at once, and nobody
 * asks a provider again about something that the cluster cannot have changed. Processes are to watch. In the second half of each two rounds of worlds the pods change half as
 * often, and rest in between: those that never do have to wait with their return, and then hide what a change of the cluster must not cause.
 */
export function lastingHistory(seed: number, worlds: typeof WORLDS = WORLDS, churn: Churn = CHURNS.pod): History {
  const random = new Random(seed ^ 0x7f4a7c15);
  const lostAtMs = CHURN_FROM_MS + random.between(5000, CHURN_MS - 10_000);
  const world = worlds[seed % worlds.length] ?? (() => []);
  const isSlow = worlds === WORLDS && Math.floor(seed / worlds.length) % 2 === 1;
  const others = isSlow ? ["n3", "n4", "n5", "n6", "n7", "n8"] : ["n3", "n4"];
  const followers = world(random);
  const { mostCalls = MOST_CALLS, mostStatuses = MOST_STATUSES } = churn;
  const restsAtMs = CHURN_FROM_MS + CHURN_MS + RESTED_MS;
  const events: readonly WorldEvent[] = [
    ...GOOD_DROPLETS.flatMap((droplet, index) => nodeOf(`n${index + 1}`, droplet, 0, "good")),
    ...others.flatMap((name, index) => nodeOf(name, 103 + index, 0)),
    addressOf(GOOD),
    {
      atMs: 0,
      kind: "pool",
      name: "p0",
      spec: { provider: "digitalocean", ips: [GOOD], match: { nodeLabel: "role=good" } },
    },
    ...followers,
    { atMs: CHURN_FROM_MS, kind: "expect-on", ip: GOOD, droplets: GOOD_DROPLETS },
    { atMs: CHURN_FROM_MS, kind: "count-calls" },
    ...(isSlow ? slowChurn(others) : restlessChurn(churn, { random, nodes: others, followers })),
    // By its name the first one has the address.
    { atMs: lostAtMs, kind: "ready", name: "n1", value: false },
    { atMs: lostAtMs + FAILOVER_MS, kind: "expect-on", ip: GOOD, droplets: [102] },
    { atMs: CHURN_FROM_MS + CHURN_MS, kind: "expect-calls", most: mostCalls, mostStatuses },
    ...(worlds === WORLDS ? [] : followed(followers, restsAtMs)),
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

/** Changes without end: what they follow waits with its return. In the end each node is as it was. */
function restlessChurn(churn: Churn, place: Place): readonly WorldEvent[] {
  const turns = CHURN_MS / churn.periodMs;
  const turn = (index: number, isGood: boolean): readonly WorldEvent[] =>
    churn.turn({ ...place, index, isGood, atMs: CHURN_FROM_MS + index * churn.periodMs });
  const { nodes } = place;
  const all = Array.from({ length: turns }, (_, index) => turn(index, index % 2 === 1)).flat();
  const atMs = CHURN_FROM_MS + CHURN_MS;
  const settled = nodes.flatMap((name, index): readonly WorldEvent[] => [
    { atMs, kind: "ready", name, value: true },
    { atMs, kind: "cordon", name, value: false },
    { atMs, kind: "role", name, value: "other" },
    { atMs, kind: "node-addresses", name, external: [`198.51.100.${103 + index}`] },
    { atMs, kind: "pod", node: name, isReady: true },
    { atMs, kind: "pod-label", node: name, app: "web" },
  ]);
  return [...all, ...settled];
}

/** Every address of what follows is on a machine of its nodes. */
function followed(followers: readonly WorldEvent[], atMs: number): readonly WorldEvent[] {
  const droplets = [103, 104, 113, 114];
  return followers.flatMap((event) =>
    event.kind === "address" ? [{ atMs, kind: "expect-on", ip: event.ip, droplets }] : [],
  );
}

/** As many changes, of pods that rest long enough in between to count; half of them are ready while the others are not. */
function slowChurn(nodes: readonly string[]): readonly WorldEvent[] {
  return Array.from({ length: CHURN_MS / SLOW_PERIOD_MS }, (_, index): WorldEvent => {
    const atMs = CHURN_FROM_MS + index * SLOW_PERIOD_MS;
    const isReady = (Math.floor(index / nodes.length) + index) % 2 === 1;
    return { atMs, kind: "pod", node: nodes[index % nodes.length] ?? "", isReady };
  });
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
