import { PURPOSES, type Purpose } from "./call-budget.ts";

/** Runs one task when there is room for it; resolves or rejects as the task does. */
export type InFlightLimit = <T>(task: () => Promise<T>, purpose: Purpose) => Promise<T>;

/** Returns a runner that lets at most `most` tasks run at a time; of the others the most urgent goes next, and of those the first that came. */
export function inFlightLimit(most: number): InFlightLimit {
  let running = 0;
  /** Those that wait, by their purpose's turn. */
  const waiting = Object.values(PURPOSES).map((): (() => void)[] => []);
  return async (task, purpose) => {
    // The one that ends hands its place over, so that nobody slips in between.
    if (running >= most) await new Promise<void>((begin) => waiting[PURPOSES[purpose].turn]?.push(begin));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.find((queue) => queue.length > 0)?.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
