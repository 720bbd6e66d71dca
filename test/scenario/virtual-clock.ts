import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/ports/system.ts";
import { type Sleeper, sleepAmong } from "../fake/sleepers.ts";

/** One process as the clock knows it. */
interface Owner {
  isHeld: boolean;
}

interface OwnedSleeper extends Sleeper {
  readonly owner: Owner;
}

/**
 * The time of one world: it stands still while calls are under way, jumps to the next sleeper when nothing else happens, and
 * moves when a scenario says so. Real waiting takes no part in it, so a scenario means the same in memory and over HTTP.
 */
export class VirtualClock {
  #nowMs: number;
  readonly #startMs: number;
  readonly #sleepers = new Set<OwnedSleeper>();
  #busy = 0;
  #activity = 0;
  #isWatching = false;
  /** Called right before time moves on. */
  onPass: ((fromMs: number, untilMs: number) => void) | undefined;

  constructor(startMs: number) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  /** Milliseconds since the epoch. */
  nowMs(): number {
    return this.#nowMs;
  }

  /** Moves time; a negative step is a clock that was wrong. */
  advance(ms: number): void {
    this.#nowMs += ms;
  }

  /** The clock of one process; `kill` forgets whatever sleeps in it, and while `hold` is on no time passes for what sleeps in it. */
  process(): { readonly clock: Clock; readonly kill: () => void; readonly hold: (isHeld: boolean) => void } {
    const owner = { isHeld: false };
    const clock: Clock = {
      monotonicMs: () => this.#nowMs - this.#startMs,
      wallMs: () => this.#nowMs,
      sleep: (ms, signal) => this.#sleep(owner, ms, signal),
    };
    const kill = (): void => {
      for (const sleeper of this.#sleepers) if (sleeper.owner === owner) this.#sleepers.delete(sleeper);
    };
    const hold = (isHeld: boolean): void => {
      owner.isHeld = isHeld;
      this.#watch();
    };
    return { clock, kill, hold };
  }

  /** Lets a call run; time stands still until it has ended. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    this.#activity += 1;
    try {
      return await call();
    } finally {
      this.#busy -= 1;
      this.#activity += 1;
      this.#watch();
    }
  }

  #sleep(owner: Owner, ms: number, signal?: AbortSignal): Promise<void> {
    this.#activity += 1;
    return sleepAmong(this.#sleepers, ms, signal, (wake, wholeMs) => {
      this.#watch();
      return { owner, dueMs: this.#nowMs + wholeMs, wake };
    });
  }

  /** Wakes the next sleeper once a whole turn of the event loop has passed without a call or a new sleep. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#jump();
  }

  async #jump(): Promise<void> {
    for (let seen = -1; seen !== this.#activity; ) {
      seen = this.#activity;
      await turn();
      await turn();
    }
    this.#isWatching = false;
    const [next] = [...this.#sleepers].filter(({ owner }) => !owner.isHeld).sort((a, b) => a.dueMs - b.dueMs);
    if (this.#busy > 0 || next === undefined) return;
    const untilMs = Math.max(this.#nowMs, next.dueMs);
    if (untilMs > this.#nowMs) this.onPass?.(this.#nowMs, untilMs);
    this.#nowMs = untilMs;
    next.wake();
    this.#watch();
  }
}
