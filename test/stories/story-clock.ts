import type { Clock } from "../../src/ports/system.ts";
import { type Sleeper, sleepAmong } from "../fake/sleepers.ts";

/** So many turns of the event loop without anybody reading the clock mean that all wait for time to pass. */
const STILL_TURNS = 20;

/**
 * The clock of a story: for the command line and for the servers of the embedded world. It stands still while anything
 * is done, real I/O between this process and itself included, and goes on to the next sleeper once all wait. So what a
 * story shows depends on no machine.
 */
export class StoryClock implements Clock {
  #nowMs = 0;
  #readings = 0;
  #isRunning = false;
  readonly #startMs: number;
  readonly #sleepers = new Set<Sleeper>();

  /** @param startMs - since the epoch. */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  monotonicMs(): number {
    this.#readings += 1;
    return this.#nowMs;
  }

  wallMs(): number {
    this.#readings += 1;
    return this.#startMs + this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepAmong(this.#sleepers, ms, signal, (wake, wholeMs) => ({ dueMs: this.#nowMs + wholeMs, wake }));
  }

  /** Lets time pass while no command runs. */
  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /** Runs work; time passes whenever all of it waits for time. Whoever still sleeps when it ends is left asleep. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#isRunning = true;
    const running = work().finally(() => {
      this.#isRunning = false;
      this.#sleepers.clear();
    });
    void this.#passTime();
    return await running;
  }

  async #passTime(): Promise<void> {
    while (this.#isRunning) {
      await this.#stillness();
      const nextMs = Math.min(...[...this.#sleepers].map(({ dueMs }) => dueMs));
      if (!this.#isRunning || nextMs === Number.POSITIVE_INFINITY) continue;
      this.#nowMs = Math.max(this.#nowMs, nextMs);
      for (const { dueMs, wake } of [...this.#sleepers]) if (dueMs <= this.#nowMs) wake();
    }
  }

  /** Resolves once the event loop has turned so often without a reading of the clock, and no file or connection is being opened; or when the work is over. */
  async #stillness(): Promise<void> {
    let seen = this.#readings;
    for (let turns = 0; this.#isRunning && turns < STILL_TURNS; turns += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const isBusy = process.getActiveResourcesInfo().some((kind) => /Req|Connect/.test(kind));
      if (isBusy || seen !== this.#readings) turns = 0;
      seen = this.#readings;
    }
  }
}
