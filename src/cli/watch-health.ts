import type { Staleness } from "../ports/cluster.ts";
import type { Clock } from "../ports/system.ts";
import { durationText } from "../report/time-text.ts";
import type { Check } from "./endpoints.ts";

/** Time that a turn may take beyond what its parts are allowed, milliseconds. */
const MARGIN_MS = 60_000;

/** What health is judged by; milliseconds. */
export interface WatchHealthOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** How long one pass may take. */
  readonly passMs: number;
  readonly staleness: () => Staleness | undefined;
}

/** Whether a watching process makes progress, and whether it knows the cluster as it is now. */
export class WatchHealth {
  readonly #options: WatchHealthOptions;
  #beatMs: number;
  #hasRead = false;
  #isLeading = false;

  constructor(options: WatchHealthOptions) {
    this.#options = options;
    this.#beatMs = options.clock.monotonicMs();
  }

  /** A turn has ended. */
  beat(hasRead: boolean): void {
    this.#beatMs = this.#options.clock.monotonicMs();
    this.#hasRead ||= hasRead;
  }

  lead(): void {
    this.#isLeading = true;
    this.beat(false);
  }

  /** A standby only waits for the Lease, which has deadlines of its own. */
  health(): Check {
    const { clock, intervalMs, passMs } = this.#options;
    const agoMs = clock.monotonicMs() - this.#beatMs;
    const why = this.#isLeading ? `the last pass ended ${durationText(agoMs)} ago` : "waiting for the Lease";
    return { isOK: !this.#isLeading || agoMs <= intervalMs + passMs + MARGIN_MS, why };
  }

  readiness(): Check {
    const stale = this.#options.staleness();
    if (stale !== undefined) return { isOK: false, why: stale.error.message };
    return this.#hasRead
      ? { isOK: true, why: "the cluster is known" }
      : { isOK: false, why: "the cluster has not been read yet" };
  }
}
