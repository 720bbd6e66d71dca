import type { History, Slot, WorldEvent } from "./history.ts";

/** A short history without faults, in which one thing happens that flipop exists for. */
export interface Story {
  readonly name: string;
  readonly history: History;
}

const SLOT: Slot = { pauseMs: 1500, startsAtMs: 500, timeoutMs: 20_000, settles: false, onLocked: "wait" };

const provider = "digitalocean";
const region = "nyc3";

function node(number: number, isReady = true): readonly WorldEvent[] {
  const name = `n${number}`;
  return [
    { atMs: 0, kind: "droplet", id: 100 + number, region },
    { atMs: 0, kind: "node", name, droplet: 100 + number, region, isReady, role: "edge" },
    { atMs: 0, kind: "pod", node: name, isReady: true },
  ];
}

function address(number: number, on: number | null = null): WorldEvent {
  return { atMs: 0, kind: "address", ip: `203.0.113.${number}`, on, region, isBYOIP: false };
}

function story(name: string, endsAtMs: number, events: readonly WorldEvent[]): Story {
  const cloud: WorldEvent = { atMs: 0, kind: "cloud", delayMs: 300 };
  const stranger: readonly WorldEvent[] = [{ atMs: 0, kind: "droplet", id: 901, region }, address(9, 901)];
  const all = [cloud, ...stranger, ...events].toSorted((a, b) => a.atMs - b.atMs);
  return { name, history: { seed: 1, hasLock: true, slots: [SLOT], latencyMs: 0, endsAtMs, events: all } };
}

/** The main stories, each as short as it can be. */
export function stories(): readonly Story[] {
  const listed = { provider, ips: ["203.0.113.1", "203.0.113.2"] };
  const acquiring = { provider, region, desiredIPs: 2, reclaimPolicy: "Delete" } as const;
  const coolOff = { assignmentCoolOffSeconds: 2 };
  return [
    story("first fill", 2500, [
      ...node(1),
      ...node(2),
      address(1),
      address(2),
      { atMs: 0, kind: "pool", name: "p0", spec: { ...listed, ...coolOff } },
    ]),
    story("failover", 5000, [
      ...node(1),
      ...node(2),
      ...node(3),
      address(1, 101),
      address(2, 102),
      { atMs: 0, kind: "pool", name: "p0", spec: { ...listed, match: { podLabel: "app=web" } } },
      { atMs: 1900, kind: "ready", name: "n1", value: false },
    ]),
    story("acquire", 3000, [...node(1), { atMs: 0, kind: "pool", name: "p0", spec: acquiring }]),
    story("desired lowered", 5500, [
      ...node(1),
      ...node(2),
      { atMs: 0, kind: "pool", name: "p0", spec: acquiring },
      { atMs: 2600, kind: "edit", name: "p0", spec: { desiredIPs: 1 } },
    ]),
    story("pool deleted", 5500, [
      ...node(1),
      { atMs: 0, kind: "pool", name: "p0", spec: acquiring },
      { atMs: 2600, kind: "delete-pool", name: "p0" },
    ]),
    story("pool deleted while the provider is slow", 9000, [
      ...node(1),
      { atMs: 0, kind: "cloud", delayMs: 9000 },
      { atMs: 0, kind: "pool", name: "p0", spec: { ...acquiring, desiredIPs: 1 } },
      { atMs: 2600, kind: "delete-pool", name: "p0" },
    ]),
    story("swap on one droplet", 5000, [
      ...node(1),
      address(1),
      address(2),
      { atMs: 0, kind: "pool", name: "p0", spec: { provider, ips: ["203.0.113.1"] } },
      { atMs: 2200, kind: "edit", name: "p0", spec: { ips: ["203.0.113.2"] } },
    ]),
  ];
}
