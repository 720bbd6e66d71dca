/** Runs one task when there is room for it; resolves or rejects as the task does. */
export type InFlightLimit = <T>(task: () => Promise<T>) => Promise<T>;

/** Returns a runner that lets at most `most` tasks run at a time; the others wait in the order they came. */
export function inFlightLimit(most: number): InFlightLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    // The one that ends hands its place over, so that nobody slips in between.
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
