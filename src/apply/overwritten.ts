import { retryDelayMs } from "../plan/retries.ts";

/*
 * What somebody else changes back as often as this process writes it: another controller, or a script.
 * Each would answer the other one at once. Without a pause both would write for ever, as fast as they can.
 *
 *   the same is written again          the next time
 *   fewer than three times             at once
 *   three times                        a second after the last time, then as after failed attempts: 1, 5, 5, 10, … s, at last every five minutes
 *   not within twenty minutes          at once: it is over
 *
 * Something else is written at once, and begins anew: what is wanted for the first time waits for nothing.
 */
const BEGINS_WITH = 3;
const OVER_AFTER_MS = 1_200_000;

/** What was written last under one key. */
interface Written {
  readonly text: string;
  /** How often in a row. */
  readonly count: number;
  /** Milliseconds of the API server's clock. */
  readonly lastMs: number;
}

/** What one process has written again and again. It remembers what it wrote within twenty minutes. */
export class Overwritten {
  #written: ReadonlyMap<string, Written> = new Map();

  /** False while the same text must not be written under a key again. */
  mayWrite(key: string, text: string, nowMs: number): boolean {
    const before = this.#written.get(key);
    if (before === undefined || !isGoingOn(before, nowMs) || before.text !== text || before.count < BEGINS_WITH)
      return true;
    return nowMs >= before.lastMs + retryDelayMs("fast", before.count - BEGINS_WITH + 1);
  }

  /** Enters that a text was written under a key. */
  wrote(key: string, text: string, nowMs: number): void {
    const before = this.#written.get(key);
    const isSame = before?.text === text && isGoingOn(before, nowMs);
    const others = [...this.#written].filter(([other, entry]) => other !== key && isGoingOn(entry, nowMs));
    this.#written = new Map([...others, [key, { text, count: isSame ? before.count + 1 : 1, lastMs: nowMs }]]);
  }
}

/** A clock that was set back ends it: nothing waits longer than it may. */
function isGoingOn({ lastMs }: Written, nowMs: number): boolean {
  return lastMs <= nowMs && nowMs - lastMs < OVER_AFTER_MS;
}
