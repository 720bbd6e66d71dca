/** Who sleeps on a virtual clock, until it wakes them. */
export interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/**
 * Sleeps among others, and resolves once it is woken or the signal is aborted: at once if it is already, or where no time is to pass.
 *
 * @param toSleeper - makes the sleeper, from what wakes it and how long it sleeps: in whole milliseconds, as timers have; a fraction could be lost in rounding, and time would stand still
 */
export function sleepAmong<T extends Sleeper>(
  sleepers: Set<T>,
  ms: number,
  signal: AbortSignal | undefined,
  toSleeper: (wake: () => void, wholeMs: number) => T,
): Promise<void> {
  if (signal?.aborted === true || ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      sleepers.delete(sleeper);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const sleeper = toSleeper(wake, Math.ceil(ms));
    sleepers.add(sleeper);
    signal?.addEventListener("abort", wake, { once: true });
  });
}
