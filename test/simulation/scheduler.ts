import { setImmediate as turn } from "node:timers/promises";

interface Sleeper {
  readonly owner: object;
  dueMs: number;
  readonly wake: () => void;
}

/** Virtual time: stands still while anything runs, and jumps to the next sleeper when nothing does. */
export class Scheduler {
  #nowMs: number;
  readonly #startMs: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(startMs: number) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  /** Milliseconds since the epoch. */
  nowMs(): number {
    return this.#nowMs;
  }

  /** Milliseconds since the start. */
  elapsedMs(): number {
    return this.#nowMs - this.#startMs;
  }

  /** Resolves after `ms` of virtual time, or when the signal is aborted. */
  sleep(owner: object, ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper = { owner, dueMs: this.#nowMs + Math.ceil(ms), wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  /** Calls `work` at its time, unless its owner is forgotten before. */
  at(owner: object, elapsedMs: number, work: () => void): void {
    const sleeper = {
      owner,
      dueMs: this.#startMs + elapsedMs,
      wake: (): void => {
        this.#sleepers.delete(sleeper);
        work();
      },
    };
    this.#sleepers.add(sleeper);
  }

  /** Resolves after `ms`; whatever else sleeps for this owner wakes later than that. */
  freeze(owner: object, ms: number): Promise<void> {
    for (const sleeper of this.#sleepers)
      if (sleeper.owner === owner) sleeper.dueMs = Math.max(sleeper.dueMs, this.#nowMs + ms + 1);
    return this.sleep(owner, ms);
  }

  /** Whatever sleeps for this owner never wakes. */
  forget(owner: object): void {
    for (const sleeper of this.#sleepers) if (sleeper.owner === owner) this.#sleepers.delete(sleeper);
  }

  /** Lets time pass until `isOver` says so. @throws Error when nothing is left that could happen */
  async run(isOver: () => boolean): Promise<void> {
    for (;;) {
      await turn();
      if (isOver()) return;
      const next = this.#next();
      if (next === undefined) throw new Error("everything waits for something that never comes");
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.wake();
    }
  }

  #next(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (first === undefined || sleeper.dueMs < first.dueMs) first = sleeper;
    return first;
  }
}
