/** Runs one task when there is room for it; resolves or rejects as the task does. One that gives way begins only when no other waits. */
export type InFlightLimit = <T>(task: () => Promise<T>, givesWay?: boolean) => Promise<T>;

/** Returns a runner that lets at most `most` tasks run at a time; the others wait in the order they came, those that give way behind the rest. */
export function inFlightLimit(most: number): InFlightLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  const givingWay: (() => void)[] = [];
  return async (task, givesWay = false) => {
    // The one that ends hands its place over, so that nobody slips in between.
    if (running >= most) await new Promise<void>((resolve) => (givesWay ? givingWay : waiting).push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift() ?? givingWay.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
