import type { Clock } from "../../../src/ports/system.ts";

/** The machine's clock, except that sleeps end at once and are remembered, in milliseconds. */
export function fastClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    sleep: (ms) => {
      slept.push(ms);
      return Promise.resolve();
    },
  };
}
