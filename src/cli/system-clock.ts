import type { Clock } from "../ports/system.ts";

/** The machine's own clock. */
export const SYSTEM_CLOCK: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, Math.max(0, ms));
      signal?.addEventListener("abort", end, { once: true });
    }),
};
