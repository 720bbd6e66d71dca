import { type Purpose, URGENCY } from "./call-budget.ts";

/** Runs one task when there is room for it; resolves or rejects as the task does. */
export type InFlightLimit = <T>(task: () => Promise<T>, purpose: Purpose) => Promise<T>;

/** Returns a runner that lets at most `most` tasks run at a time; of the others the most urgent goes next, and of those the first that came. */
export function inFlightLimit(most: number): InFlightLimit {
  let running = 0;
  const waiting: { readonly purpose: Purpose; readonly begin: () => void }[] = [];
  return async (task, purpose) => {
    // The one that ends hands its place over, so that nobody slips in between.
    if (running >= most) await new Promise<void>((begin) => waiting.push({ purpose, begin }));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.toSorted((a, b) => URGENCY[a.purpose] - URGENCY[b.purpose])[0];
      if (next === undefined) running -= 1;
      else {
        waiting.splice(waiting.indexOf(next), 1);
        next.begin();
      }
    }
  };
}
