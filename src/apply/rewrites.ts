import { WAITS, waitMs } from "../model/waits.ts";
import { retryDelayMs } from "../plan/retries.ts";

/** How often the same may be written again. */
interface Pace {
  /** How long the next one waits after so many in a row, milliseconds. */
  readonly waitMs: (count: number) => number;
  /** A row ends when nothing was written for so long, milliseconds. */
  readonly overAfterMs: number;
}

/** So often what others change back is written at once. */
const BEGINS_WITH = 3;

/**
 * For what another controller, or a script, changes back: each would answer the other one at once, as fast as they can. The fourth writing waits a second, later ones as
 * after failed attempts: 1, 5, 5, 10, … s, at last every five minutes.
 */
export const CHANGED_BACK: Pace = {
  waitMs: (count) => (count < BEGINS_WITH ? 0 : retryDelayMs("fast", count - BEGINS_WITH + 1)),
  overAfterMs: 1_200_000,
};

/** For a status that only tells people of nodes and pods: where these never rest, it is written after waits that grow to ten seconds. */
export const TOLD: Pace = { waitMs: (count) => waitMs(WAITS.toldStatus, count), overAfterMs: 20_000 };

/** What was written last under one key. */
interface Written {
  readonly text: string;
  /** How often in a row. */
  readonly count: number;
  /** Milliseconds of the API server's clock. */
  readonly lastMs: number;
}

/**
 * What one process has written again and again. Each writing of the same makes the next one wait. Something else is written at once, and begins a row of its own: what is
 * wanted for the first time waits for nothing.
 */
export class Rewrites {
  readonly #pace: Pace;
  readonly #written = new Map<string, Written>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** Returns when a text may be written under a key, milliseconds of the API server's clock. It may be written at once where that is not after `nowMs`. */
  dueMs(key: string, nowMs: number, text = ""): number {
    const before = this.#written.get(key);
    if (before?.text !== text || !this.#isGoingOn(before, nowMs)) return nowMs;
    return before.lastMs + this.#pace.waitMs(before.count);
  }

  /** Enters that a text was written under a key. */
  wrote(key: string, nowMs: number, text = ""): void {
    for (const [other, entry] of this.#written) if (!this.#isGoingOn(entry, nowMs)) this.#written.delete(other);
    const before = this.#written.get(key);
    this.#written.set(key, { text, count: before?.text === text ? before.count + 1 : 1, lastMs: nowMs });
  }

  /** A clock that was set back ends it: nothing waits longer than it may. */
  #isGoingOn({ lastMs }: Written, nowMs: number): boolean {
    return lastMs <= nowMs && nowMs - lastMs < this.#pace.overAfterMs;
  }
}
