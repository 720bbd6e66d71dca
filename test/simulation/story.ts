import type { History, Slot, WorldEvent } from "./history.ts";

/** A short history without faults, in which one thing happens that flipop exists for. */
export interface Story {
  readonly name: string;
  readonly history: History;
}

const SLOT: Slot = { pauseMs: 1500, startsAtMs: 500, timeoutMs: 20_000, settles: false, onLocked: "wait" };

const region = "nyc3";

/** A node with its droplet, `n1` on 101 and so on, and a ready pod. */
export function node(number: number, isReady = true): readonly WorldEvent[] {
  const name = `n${number}`;
  return [
    { atMs: 0, kind: "droplet", id: 100 + number, region },
    { atMs: 0, kind: "node", name, droplet: 100 + number, region, isReady, role: "edge" },
    { atMs: 0, kind: "pod", node: name, isReady: true },
  ];
}

/** An address of the account, 203.0.113.NUMBER. */
export function address(number: number, on: number | null = null): WorldEvent {
  return { atMs: 0, kind: "address", ip: `203.0.113.${number}`, on, region, isBYOIP: false };
}

/** A story in a world where actions take a moment and a stranger holds an address. */
export function story(name: string, endsAtMs: number, events: readonly WorldEvent[]): Story {
  const cloud: WorldEvent = { atMs: 0, kind: "cloud", delayMs: 300 };
  const stranger: readonly WorldEvent[] = [{ atMs: 0, kind: "droplet", id: 901, region }, address(9, 901)];
  const all = [cloud, ...stranger, ...events].toSorted((a, b) => a.atMs - b.atMs);
  return { name, history: { seed: 1, hasLock: true, slots: [SLOT], latencyMs: 0, endsAtMs, events: all } };
}
