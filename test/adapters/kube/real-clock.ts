import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../../src/ports/system.ts";

/** The machine's clock, for tests whose other end is a real socket. */
export const REAL_CLOCK: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  },
};
