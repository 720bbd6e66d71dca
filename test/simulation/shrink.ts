import type { History } from "./history.ts";
import { Simulation } from "./simulation.ts";

/** The same history with as few events, processes and waits as still break the same promise. */
export async function shrink(history: History, invariant: string, simulate: Simulate = single): Promise<History> {
  const breaks = async (candidate: History): Promise<boolean> => {
    const { violation } = await simulate(candidate, false).run();
    return violation?.invariant === invariant;
  };
  let smallest = history;
  for (const simpler of simplifications(history)) {
    const candidate = { ...smallest, ...simpler };
    if (await breaks(candidate)) smallest = candidate;
  }
  for (let size = Math.ceil(smallest.events.length / 2); size >= 1; size = Math.floor(size / 2)) {
    smallest = await withoutChunks(smallest, size, breaks);
  }
  return withoutChunks(smallest, 1, breaks);
}

/** Makes the simulation of a history. */
export type Simulate = (history: History, isTraced: boolean) => Simulation;

/** With single runs. */
export const single: Simulate = (history, isTraced) => new Simulation(history, isTraced);

function simplifications(history: History): readonly Partial<History>[] {
  // Every shard is needed for its objects.
  if (history.shards !== undefined) return [{ latencyMs: 0 }];
  const [first, ...rest] = history.slots;
  return [
    { latencyMs: 0 },
    ...(first !== undefined && rest.length > 0 ? [{ slots: [first] }] : []),
    ...(first === undefined ? [] : [{ slots: [{ ...first, settles: false }] }]),
    ...(rest.length === 0 ? [{ hasLock: false }] : []),
  ];
}

async function withoutChunks(
  history: History,
  size: number,
  breaks: (candidate: History) => Promise<boolean>,
): Promise<History> {
  let smallest = history;
  for (let start = smallest.events.length - size; start > -size; start -= size) {
    const from = Math.max(0, start);
    const events = smallest.events.filter((_, index) => index < from || index >= from + size);
    const candidate = { ...smallest, events };
    if (events.length < smallest.events.length && (await breaks(candidate))) smallest = candidate;
  }
  return smallest;
}
