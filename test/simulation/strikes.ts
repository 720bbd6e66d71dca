import { isPossible, type SimCall } from "./faults.ts";
import type { FaultKind, History, Strike, WorldEvent } from "./history.ts";
import { Simulation } from "./simulation.ts";

const KINDS: readonly FaultKind[] = [
  "500",
  "500-after",
  "timeout",
  "timeout-after",
  "malformed",
  "malformed-after",
  "404",
  "409",
  "422",
  "422-pending",
  "429",
  "401",
  "conflict",
  "forbidden",
];
const CLOUD_ONLY: ReadonlySet<FaultKind> = new Set(["404", "409", "422", "422-pending", "429", "401"]);
const CLUSTER_ONLY: ReadonlySet<FaultKind> = new Set(["conflict", "forbidden"]);
const NO_DNS: ReadonlySet<FaultKind> = new Set(["404", "422-pending", "conflict"]);

/** Every call a history makes when nothing is struck, in order. */
async function callsOf(history: History): Promise<readonly SimCall[]> {
  const simulation = new Simulation(history, false);
  const { violation } = await simulation.run();
  if (violation !== undefined) throw new Error(`${violation.invariant}: ${violation.text}`);
  return simulation.made;
}

/** A death on each side of every call; a read leaves nothing behind, so to die after it is to die before it. */
function deaths(calls: readonly SimCall[]): readonly Strike[] {
  return calls.flatMap(({ isWrite }, index): readonly Strike[] => [
    { call: index + 1, how: "dies-before" },
    ...(isWrite ? [{ call: index + 1, how: "dies-after" } as const] : []),
  ]);
}

/** Every single way to fail, at every call that can fail so. */
function failures(calls: readonly SimCall[]): readonly Strike[] {
  return calls.flatMap((call, index) =>
    KINDS.filter((how) => fits(how, call)).map((how): Strike => ({ call: index + 1, how })),
  );
}

function fits(how: FaultKind, call: SimCall): boolean {
  const elsewhere = { cluster: CLOUD_ONLY, cloud: CLUSTER_ONLY, dns: NO_DNS, firewall: CLUSTER_ONLY };
  const isElsewhere = elsewhere[call.side].has(how);
  const isPointless = how.endsWith("-after") && !call.isWrite;
  return !isElsewhere && !isPointless && isPossible(how, call);
}

/**
 * Every read is answered as it was before, once and twice back: a view that travels back in time. Not the single reading of an address, which is the truth by
 * contract: there is nothing it could be held against.
 */
function staleViews(calls: readonly SimCall[]): readonly Strike[] {
  return calls.flatMap((call, index) =>
    call.isWrite || call.operation === "get" || call.operation === "firewall" || call.operation.endsWith("-lease")
      ? []
      : [1, 2].map((back): Strike => ({ call: index + 1, how: "stale", back })),
  );
}

/** Everything that a pass reads of the cluster is as it was, once and twice back, as from another API server after a restart: at every pass. */
function pastWorlds(calls: readonly SimCall[]): readonly Strike[] {
  return calls.flatMap(({ operation }, index) =>
    operation === "list-pools" ? [1, 2].map((back): Strike => ({ call: index + 1, how: "stale-pass", back })) : [],
  );
}

/** Before every call the world changes and changes back, or changes for good, and no look falls in between; the process goes on, or dies there. */
function missedStates(calls: readonly SimCall[]): readonly Strike[] {
  const sides = new Set(calls.map(({ side }) => side));
  const changes = sides.has("firewall") ? FIREWALL_CHANGES : sides.has("dns") ? NAME_CHANGES : CHANGES;
  return calls.flatMap((_, index) =>
    changes.flatMap((events): readonly Strike[] => [
      { call: index + 1, events },
      { call: index + 1, events, how: "dies-before" },
    ]),
  );
}

const atMs = 0;
const CHANGES: readonly (readonly WorldEvent[])[] = [
  [
    { atMs, kind: "ready", name: "n1", value: false },
    { atMs, kind: "ready", name: "n1", value: true },
  ],
  [{ atMs, kind: "delete-node", name: "n1", isHeld: false }],
  [
    { atMs, kind: "droplet", id: 201, region: "nyc3" },
    { atMs, kind: "node", name: "n1", droplet: 201, region: "nyc3", isReady: true, role: "edge" },
    { atMs, kind: "pod", node: "n1", isReady: true },
  ],
  [{ atMs, kind: "remove-droplet", id: 101 }],
  [{ atMs, kind: "hand-move", pick: 0, to: null }],
  [{ atMs, kind: "hand-delete", pick: 0 }],
  [{ atMs, kind: "other-buys", on: null }],
  [
    { atMs, kind: "edit", name: "p0", spec: { suspend: true } },
    { atMs, kind: "edit", name: "p0", spec: { suspend: false } },
  ],
  [{ atMs, kind: "wipe-status", name: "p0" }],
  [
    { atMs, kind: "delete-pool", name: "p0" },
    { atMs, kind: "pool", name: "p0", spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 1 } },
  ],
];

const www = { provider: "digitalocean", zone: "example.com", fqdn: "www.example.com" } as const;
const NAME_CHANGES: readonly (readonly WorldEvent[])[] = [
  [
    { atMs, kind: "ready", name: "n1", value: false },
    { atMs, kind: "ready", name: "n1", value: true },
  ],
  [
    { atMs, kind: "droplet", id: 201, region: "nyc3" },
    { atMs, kind: "node", name: "n1", droplet: 201, region: "nyc3", isReady: true, role: "edge" },
    { atMs, kind: "pod", node: "n1", isReady: true },
  ],
  [{ atMs, kind: "wipe-status", name: "p0" }],
  [{ atMs, kind: "hand-record", ...www, edit: "replace", pick: 0 }],
  [{ atMs, kind: "hand-record", ...www, provider: "cloudflare", edit: "remove-all", pick: 0 }],
  [{ atMs, kind: "wipe-record-set", name: "r0" }],
  [
    { atMs, kind: "edit", name: "p0", spec: { dnsRecordSet: { recordName: "other" } } },
    { atMs, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { recordName: "other" } } },
  ],
  [
    { atMs, kind: "edit", name: "p0", spec: { dnsRecordSet: null } },
    { atMs, kind: "delete-record-set", name: "r0" },
  ],
  [
    { atMs, kind: "zone", provider: "digitalocean", zone: "example.com", isThere: false },
    { atMs, kind: "zone", provider: "digitalocean", zone: "example.com", isThere: true },
  ],
];

const byHand = { atMs, kind: "hand-firewall", name: "fw0", ports: "tcp/30080", droplet: 101 } as const;
const FIREWALL_CHANGES: readonly (readonly WorldEvent[])[] = [
  [
    { atMs, kind: "pod", node: "n1", isReady: false },
    { atMs, kind: "pod", node: "n1", isReady: true },
  ],
  [{ atMs, kind: "remove-droplet", id: 101 }],
  [{ ...byHand, edit: "close" }],
  [{ ...byHand, edit: "open" }],
  [{ ...byHand, edit: "detach" }],
  [{ ...byHand, edit: "widen" }],
  [
    { ...byHand, edit: "delete" },
    { atMs, kind: "firewall", name: "fw0", open: ["tcp/22"], droplets: [] },
  ],
  [
    { atMs, kind: "service", name: "web", app: "web", ports: [30_443] },
    { atMs, kind: "service", name: "web", app: "web", ports: [30_080] },
  ],
  [{ atMs, kind: "wipe-routed-ip", name: "v0" }],
  [
    { atMs, kind: "edit-routed-ip", name: "v0", spec: { suspend: true } },
    { atMs, kind: "edit-routed-ip", name: "v0", spec: { suspend: false } },
  ],
];

/** Every call after which its process stands still until another one has taken over. */
function freezes(calls: readonly SimCall[]): readonly Strike[] {
  return calls.map((_, index): Strike => ({ call: index + 1, how: "freezes" }));
}

/** The same history with a second process that waits for the Lease, and time for it to take over. */
function withSecond(history: History): History {
  const [first] = history.slots;
  if (first === undefined) return history;
  const patient = { ...first, timeoutMs: 45_000, pauseMs: 5000 };
  const endsAtMs = history.endsAtMs + 25_000;
  return { ...history, endsAtMs, slots: [patient, { ...patient, startsAtMs: first.startsAtMs + 10 }] };
}

/** The ways to strike a story at every single call, by name; with the history that is struck. */
export const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  "a death at every call": { prepare: (history) => history, strikesOn: deaths },
  "every failure of every call": { prepare: (history) => history, strikesOn: failures },
  "a stale view at every read": { prepare: (history) => history, strikesOn: staleViews },
  "a whole view of the past at every pass": { prepare: (history) => history, strikesOn: pastWorlds },
  "changes nobody sees in between, at every call": { prepare: (history) => history, strikesOn: missedStates },
  "a pause longer than the Lease after every call": { prepare: withSecond, strikesOn: freezes },
};

/** One way to strike a story. */
export interface Campaign {
  readonly prepare: (history: History) => History;
  readonly strikesOn: (calls: readonly SimCall[]) => readonly Strike[];
}

/** Every struck history of a story in a campaign. */
export async function struckHistories(history: History, { prepare, strikesOn }: Campaign): Promise<readonly History[]> {
  const prepared = prepare(history);
  const strikes = strikesOn(await callsOf(prepared));
  return strikes.map((strike) => ({ ...prepared, strike }));
}
