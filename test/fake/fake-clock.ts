import type { Clock } from "../../src/ports/system.ts";
import { type Sleeper, sleepAmong } from "./sleepers.ts";

/**
 * A clock that stands still until a test moves it. Sleeps end in the order they are due (then in the order they began),
 * and everything that follows from one of them has run before the next one ends. Only for work that waits for nothing
 * but this clock and promises: real I/O takes real time.
 */
export class FakeClock implements Clock {
  private nowMs = 0;
  private wallOffsetMs: number;
  private readonly sleepers = new Set<Sleeper>();

  /** Monotonic time starts at 0; the wall clock at `wallMs`, by default 2026-01-02T03:04:05Z. */
  constructor(wallMs: number = Date.UTC(2026, 0, 2, 3, 4, 5)) {
    this.wallOffsetMs = wallMs;
  }

  /** Milliseconds since the clock was made. */
  monotonicMs(): number {
    return this.nowMs;
  }

  /** Milliseconds since the epoch; moves with the monotonic clock, and by {@link shiftWall}. */
  wallMs(): number {
    return this.wallOffsetMs + this.nowMs;
  }

  /** Resolves once the test has moved the clock by `ms`, or when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepAmong(this.sleepers, ms, signal, (wake, wholeMs) => ({ dueMs: this.nowMs + wholeMs, wake }));
  }

  /** How many sleeps have not ended: 0 after work that cleaned up behind itself. */
  sleeping(): number {
    return this.sleepers.size;
  }

  /** Moves the wall clock alone, as a person or NTP does. */
  shiftWall(ms: number): void {
    this.wallOffsetMs += ms;
  }

  /** Lets time pass while nothing runs, as on a suspended machine: overdue sleeps end with the next {@link advance}. */
  suspend(ms: number): void {
    this.nowMs += ms;
  }

  /** Lets `ms` pass, ending each sleep at its time. Resolves when all that follows from it has run. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await flush();
    for (let next = this.next(); next !== undefined && next.dueMs <= untilMs; next = this.next()) {
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.wake();
      await flush();
    }
    this.nowMs = untilMs;
    await flush();
  }

  /**
   * The value of a promise that waits for this clock: moves it from sleep to sleep until the promise has settled.
   * @throws what the promise is rejected with; Error when it has not settled after `limitMs`, or waits for something else.
   */
  async settle<T>(promise: Promise<T>, limitMs = 3_600_000): Promise<T> {
    const untilMs = this.nowMs + limitMs;
    let isSettled = false;
    const mark = (): void => {
      isSettled = true;
    };
    promise.then(mark, mark);
    await flush();
    while (!isSettled) {
      const next = this.next();
      if (next === undefined) throw new Error("The promise waits for something other than the fake clock.");
      if (next.dueMs > untilMs) throw new Error(`The promise has not settled within ${limitMs} ms of fake time.`);
      await this.advance(Math.max(0, next.dueMs - this.nowMs));
    }
    return promise;
  }

  private next(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.sleepers) {
      if (first === undefined || sleeper.dueMs < first.dueMs) first = sleeper;
    }
    return first;
  }
}

/** Runs every promise reaction that is due; a second turn for those that pass through an immediate. */
async function flush(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  await new Promise<void>((resolve) => setImmediate(resolve));
}
