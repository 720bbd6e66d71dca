import { refKey } from "../model/action.ts";
import type { ReportFailure } from "../model/run.ts";
import { unwrittenCause } from "../report/text/run.ts";

/** The time after which a failure that comes back is news, milliseconds: longer than the longest wait between two attempts. */
const FORGOTTEN_MS = 15 * 60_000;

/** What could not be written while a process goes on. It is tried again and again, and told once for each object and cause. */
export class Unwritten {
  readonly #wallMs: () => number;
  /** When each was seen last, milliseconds. */
  readonly #seenMs = new Map<string, number>();

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  /** Returns which failures of a pass have not been told yet. */
  fresh(failures: readonly ReportFailure[]): readonly ReportFailure[] {
    const nowMs = this.#wallMs();
    for (const [key, ms] of this.#seenMs) if (Math.abs(nowMs - ms) > FORGOTTEN_MS) this.#seenMs.delete(key);
    return failures.filter((failure) => {
      const key = `${refKey(failure.object)} ${unwrittenCause(failure)}`;
      const isNew = !this.#seenMs.has(key);
      this.#seenMs.set(key, nowMs);
      return isNew;
    });
  }
}
