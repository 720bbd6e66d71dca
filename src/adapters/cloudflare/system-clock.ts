import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../ports/clock.ts";

/** The machine's own clock. */
export function systemClock(): Clock {
  return {
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
  };
}
