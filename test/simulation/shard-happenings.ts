import type { WorldEvent } from "./history.ts";
import type { Random } from "./random.ts";

/** Objects whose label changes, and the labels that they get; null = none. */
export interface Givable {
  readonly pools: readonly string[];
  readonly recordSets: readonly string[];
  readonly shards: readonly (string | null)[];
}

/** How soon after something else was done to an object its label changes, milliseconds: in the middle of a call, of a pass, of a purchase, of a drain. */
const SOON_MS = [0, 1, 60, 300, 1000, 4000, 20_000] as const;

/** Objects that change their shard, some of them back and forth. */
export function giveEvents(random: Random, endsAtMs: number, givable: Givable): readonly WorldEvent[] {
  const times = random.pick([0, 2, 6, 12]);
  return Array.from({ length: times }, () => {
    const atMs = random.between(1, endsAtMs);
    const name = random.pick([...givable.pools, ...givable.recordSets]);
    const event = give(name, atMs, random, givable);
    const isBack = random.chance(0.3);
    return isBack ? [event, give(name, atMs + random.pick(SOON_MS), random, givable)] : [event];
  }).flat();
}

/** What changes its shard right after it was made, edited or deleted, or after a node was lost or emptied. */
export function givenMeanwhile(random: Random, events: readonly WorldEvent[], givable: Givable): readonly WorldEvent[] {
  return events.flatMap((event) => {
    const name = concerned(event, random, givable);
    if (name === undefined || !random.chance(0.15)) return [];
    return [give(name, event.atMs + random.pick(SOON_MS), random, givable)];
  });
}

/** The object that an event is about, or one that it may move. */
function concerned(event: WorldEvent, random: Random, { pools, recordSets }: Givable): string | undefined {
  switch (event.kind) {
    case "pool":
    case "edit":
    case "delete-pool":
    case "record-set":
    case "edit-record-set":
    case "delete-record-set":
      return event.name;
    case "ready":
    case "cordon":
    case "role":
    case "delete-node":
    case "remove-droplet":
      return random.pick([...pools, ...recordSets]);
    default:
      return undefined;
  }
}

/** Single processes that are stopped for long. */
export function stops(random: Random, endsAtMs: number, slots: number): readonly WorldEvent[] {
  return Array.from({ length: random.pick([0, 0, 1, 3]) }, (): WorldEvent => {
    const ms = random.pick([20, 60, 150]) * 1000;
    return { atMs: random.between(1, endsAtMs), kind: "stop", slot: random.between(0, slots - 1), ms };
  });
}

function give(name: string, atMs: number, random: Random, { recordSets, shards }: Givable): WorldEvent {
  const object = recordSets.includes(name) ? "recordSets" : "pools";
  return { atMs, kind: "give", object, name, shard: random.pick(shards) };
}
