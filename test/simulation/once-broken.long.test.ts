import { expect, test } from "vitest";
import { explain } from "./explain.ts";
import type { History, WorldEvent } from "./history.ts";
import { Simulation } from "./simulation.ts";

const n4: readonly WorldEvent[] = [
  { atMs: 0, kind: "droplet", id: 104, region: "nyc3" },
  { atMs: 0, kind: "node", name: "n4", droplet: 104, region: "nyc3", isReady: true, role: "edge" },
];

function address(ip: string, on: number | null): WorldEvent {
  return { atMs: 0, kind: "address", ip, on, region: "nyc3", isBYOIP: false };
}

test.for<[string, Omit<History, "seed" | "slots" | "latencyMs" | "hasLock">]>([
  [
    "a rate limit met while an assignment is confirmed is obeyed by the next run",
    {
      endsAtMs: 14_000,
      events: [
        ...n4,
        address("203.0.113.2", null),
        { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", ips: ["203.0.113.2"] } },
        { atMs: 1000, kind: "fault", how: "429", times: 1, side: "cloud", operation: "get" },
      ],
    },
  ],
  [
    "a refusal whose cause cannot be read is still one, and is not soon repeated",
    {
      endsAtMs: 100_000,
      events: [
        ...n4,
        { atMs: 0, kind: "droplet", id: 901, region: "nyc3" },
        address("203.0.113.9", 901),
        { atMs: 0, kind: "address", ip: "203.0.113.4", on: 104, region: "nyc3", isBYOIP: true },
        address("203.0.113.2", null),
        { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", ips: ["203.0.113.2"] } },
        { atMs: 1000, kind: "fault", how: "timeout", times: 9, side: "cloud", operation: "machine" },
      ],
    },
  ],
  [
    "an address found again by an annotation is on record before the annotation is cleared",
    {
      endsAtMs: 30_000,
      events: [
        ...n4,
        {
          atMs: 0,
          kind: "pool",
          name: "p0",
          spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 2 },
        },
        { atMs: 12_000, kind: "wipe-status", name: "p0" },
        { atMs: 12_000, kind: "cordon", name: "n4", value: true },
      ],
    },
  ],
  [
    "an address that somebody deleted during the pass does not pass for the one whose creation got no answer",
    {
      endsAtMs: 40_000,
      events: [
        { atMs: 0, kind: "cloud", delayMs: 9000 },
        ...n4,
        address("203.0.113.5", null),
        { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 3 } },
        { atMs: 4000, kind: "hand-delete", pick: 1 },
        { atMs: 4001, kind: "fault", how: "500-after", times: 1, side: "cloud", operation: "create" },
      ],
    },
  ],
  [
    "an address that somebody attached elsewhere while its new machine was busy is not taken from there",
    {
      endsAtMs: 20_000,
      events: [
        ...n4,
        { atMs: 0, kind: "droplet", id: 105, region: "nyc3" },
        { atMs: 0, kind: "node", name: "n5", droplet: 105, region: "nyc3", isReady: true, role: "other" },
        address("203.0.113.2", null),
        {
          atMs: 0,
          kind: "pool",
          name: "p0",
          spec: { provider: "digitalocean", ips: ["203.0.113.2"], match: { nodeLabel: "role=edge" } },
        },
        { atMs: 1000, kind: "pending-event", droplet: 104, ms: 4000 },
        { atMs: 2700, kind: "hand-move", pick: 0, to: 105 },
      ],
    },
  ],
  [
    "a machine that an unanswered creation may have given an address to is asked for by no other pool meanwhile",
    {
      endsAtMs: 80_000,
      events: [
        { atMs: 0, kind: "cloud", failActions: 1 },
        ...n4,
        ...["p0", "p1"].map(
          (name): WorldEvent => ({
            atMs: name === "p0" ? 0 : 4000,
            kind: "pool",
            name,
            spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 1 },
          }),
        ),
        { atMs: 0, kind: "fault", how: "500-after", times: 2, side: "cloud", operation: "create" },
      ],
    },
  ],
  [
    "a machine that a creation without an answer was for is free for others at last, though its pool has become invalid",
    {
      endsAtMs: 60_000,
      events: [
        ...n4,
        { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 1 } },
        { atMs: 0, kind: "fault", how: "500", times: 1, side: "cloud", operation: "create" },
        { atMs: 4000, kind: "edit", name: "p0", spec: { match: { nodeLabel: "role in (" } } },
        address("203.0.113.2", null),
        { atMs: 5000, kind: "pool", name: "p1", spec: { provider: "digitalocean", ips: ["203.0.113.2"] } },
      ],
    },
  ],
  [
    "a rate limit met while the world is read is obeyed by the next run, though the local clock leaps before the reading ends",
    {
      endsAtMs: 24_000,
      events: [
        ...n4,
        address("203.0.113.2", 104),
        address("203.0.113.3", null),
        { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", ips: ["203.0.113.2", "203.0.113.5"] } },
        {
          atMs: 0,
          kind: "pool",
          name: "p1",
          spec: {
            provider: "digitalocean",
            ips: ["203.0.113.3"],
            dnsRecordSet: { provider: "cloudflare", zone: "example.com", recordName: "www" },
          },
        },
        { atMs: 0, kind: "fault", how: "timeout", times: 1, side: "cloud", operation: "machine" },
        { atMs: 0, kind: "fault", how: "429", times: 1, side: "dns", operation: "records" },
        { atMs: 3000, kind: "leap", slot: 0, ms: 30_000 },
      ],
    },
  ],
  [
    "an address whose creation got no answer is not bought again while lists show only a part of the account",
    {
      endsAtMs: 45_000,
      events: [
        { atMs: 0, kind: "droplet", id: 901, region: "nyc3" },
        address("203.0.113.9", 901),
        { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 1 } },
        { atMs: 0, kind: "fault", how: "500-after", times: 1, side: "cloud", operation: "create" },
        { atMs: 25_000, kind: "stale", times: 40, isPartial: true, side: "cloud", operation: "list" },
      ],
    },
  ],
  [
    "an intent whose time is ahead is not waited for longer than any other",
    {
      endsAtMs: 12_000,
      events: [
        { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 1 } },
        { atMs: 0, kind: "fault", how: "500", times: 1, side: "cloud", operation: "create" },
        ...Array.from(
          { length: 20 },
          (_, pick): WorldEvent => ({
            atMs: 8000,
            kind: "spoil-status",
            object: "pools",
            name: "p0",
            how: "future",
            pick,
          }),
        ),
      ],
    },
  ],
  [
    "twelve addresses are bought in a minute and no more, also when the Lease is slow to take the time of the first",
    {
      endsAtMs: 90_000,
      events: [
        ...["p0", "p1"].map(
          (name): WorldEvent => ({
            atMs: 0,
            kind: "pool",
            name,
            spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 7 },
          }),
        ),
        { atMs: 0, kind: "fault", how: "timeout", times: 2, side: "cluster", operation: "replace-lease" },
      ],
    },
  ],
  [
    "an unattached address that somebody attached elsewhere while the process stood still is not taken from there",
    {
      endsAtMs: 60_000,
      events: [
        ...n4,
        { atMs: 0, kind: "droplet", id: 105, region: "nyc3" },
        address("203.0.113.2", null),
        { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", ips: ["203.0.113.2"] } },
        { atMs: 0, kind: "freeze", slot: 0, skip: 0, ms: 8000, side: "cloud", operation: "machine" },
        { atMs: 4000, kind: "hand-move", pick: 0, to: 105 },
      ],
    },
  ],
  [
    "an address that somebody attached to its machine while that was busy is not sent there once more",
    {
      endsAtMs: 20_000,
      events: [
        ...n4,
        address("203.0.113.2", null),
        { atMs: 0, kind: "pool", name: "p0", spec: { provider: "digitalocean", ips: ["203.0.113.2"] } },
        { atMs: 1000, kind: "pending-event", droplet: 104, ms: 1800 },
        { atMs: 2700, kind: "hand-move", pick: 0, to: 104 },
      ],
    },
  ],
])("%s", async ([, story]) => {
  const slot = { pauseMs: 4000, startsAtMs: 2000, timeoutMs: 20_000, settles: false, onLocked: "wait" } as const;
  const history: History = { seed: 1, hasLock: true, slots: [slot], latencyMs: 0, ...story };
  const { violation } = await new Simulation(history, false).run();
  expect(violation === undefined ? [] : await explain(history, 80)).toEqual([]);
});
