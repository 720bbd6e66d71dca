import type { RateLimit } from "../../model/meter.ts";
import type { Clock } from "../../ports/clock.ts";

/**
 * What a call is made for, the most urgent first.
 *
 *   address   addresses and firewalls: without them nothing is served
 *   rest      the rest of a change that has begun: half of a change helps nobody
 *   recovery  a name loses an address that no longer serves; and the zone of a name is found, without which nothing can be changed in it
 *   change    any other change of a name, and what waits to be known for it
 *   look      a name is looked at, and nobody waits for it
 */
export type Purpose = "address" | "rest" | "recovery" | "change" | "look";

/** Which part of every limit is kept for what is more urgent. */
const KEPT: Readonly<Record<Purpose, number>> = { address: 0, rest: 0, recovery: 0.1, change: 0.2, look: 0.3 };

/** Which of two purposes goes first: the smaller number. */
export const URGENCY: Readonly<Record<Purpose, number>> = { address: 0, rest: 1, recovery: 2, change: 3, look: 4 };

/** What a look at a name is made for: a change that waits for it, or nothing but to know. */
export function lookPurpose(isAwaited = false): Purpose {
  return isAwaited ? "change" : "look";
}

/** So many calls are allowed in any span of so many milliseconds. */
export interface CallAllowance {
  readonly calls: number;
  readonly ms: number;
  /** The limit that the headers tell of an account with this allowance. Where they tell a higher one it was raised for the account, and the allowance is taken to be so with it. */
  readonly toldLimit: number;
}

const minuteMs = 60_000;

/**
 * Spends the calls of one token: of the limit that counts our own calls, and of the one that the provider's headers tell, a part is kept for what is more urgent. So no
 * number of names ever uses up what a failover needs.
 */
export class CallBudget {
  readonly #clock: Clock;
  readonly #allowance: CallAllowance;
  readonly #rateLimit: () => RateLimit;
  /** When the calls of the last span were made, monotonic milliseconds, ascending. */
  readonly #times: number[] = [];

  constructor(clock: Clock, allowance: CallAllowance, rateLimit: () => RateLimit) {
    this.#clock = clock;
    this.#allowance = allowance;
    this.#rateLimit = rateLimit;
  }

  /** Counts a call that is about to be sent. */
  spend(): void {
    this.#times.push(this.#clock.monotonicMs());
  }

  /** Until when a call for this purpose has to wait, local milliseconds; undefined when it may be sent. */
  putOffUntilMs(purpose: Purpose): number | undefined {
    const waits = [this.#ownWaitMs(KEPT[purpose]), this.#toldWaitMs(KEPT[purpose])];
    const waitMs = Math.max(...waits);
    return waitMs > 0 ? this.#clock.wallMs() + waitMs : undefined;
  }

  /** The wait until enough of our own calls are a span ago, milliseconds. */
  #ownWaitMs(kept: number): number {
    if (kept === 0) return 0;
    const nowMs = this.#clock.monotonicMs();
    const { calls, ms, toldLimit } = this.#allowance;
    const live = this.#times.findIndex((time) => time > nowMs - ms);
    this.#times.splice(0, live === -1 ? this.#times.length : live);
    const raised = Math.max(1, (this.#rateLimit().limit ?? 0) / toldLimit);
    const freeing = this.#times[this.#times.length - Math.floor(calls * raised * (1 - kept))];
    return freeing === undefined ? 0 : freeing + ms - nowMs;
  }

  /** The wait that the headers ask for, milliseconds: until the reset, and for a minute at most, since the limits slide. */
  #toldWaitMs(kept: number): number {
    const { limit, remaining, resetMs } = this.#rateLimit();
    if (kept === 0 || limit === undefined || remaining === undefined || remaining > limit * kept) return 0;
    const untilMs = (resetMs ?? Number.POSITIVE_INFINITY) - this.#clock.wallMs();
    return Math.min(untilMs, minuteMs);
  }
}
