import type { ClusterChange } from "../ports/cluster.ts";
import type { Clock } from "../ports/system.ts";

/** How many changes are kept by name; of the others only the number matters. */
const KEPT = 10;

/** What has changed since it was last asked; `changes` are the first of `count`, in the order they came. */
export interface News {
  readonly changes: readonly ClusterChange[];
  readonly count: number;
}

/** Collects changes of the cluster while a pass runs, and wakes whoever waits for one. */
export class Alarm {
  readonly #clock: Clock;
  #changes: ClusterChange[] = [];
  #count = 0;
  #rung = new AbortController();
  #next = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborted by the first change after the last {@link take}. */
  get rung(): AbortSignal {
    return this.#rung.signal;
  }

  /** Returns a signal that the next change aborts, whatever came before. */
  next(): AbortSignal {
    if (this.#next.signal.aborted) this.#next = new AbortController();
    return this.#next.signal;
  }

  ring(change: ClusterChange): void {
    this.#count += 1;
    if (this.#changes.length < KEPT) this.#changes.push(change);
    this.#rung.abort();
    this.#next.abort();
  }

  /** Returns what has changed, and begins anew. */
  take(): News {
    const news = { changes: this.#changes, count: this.#count };
    this.#changes = [];
    this.#count = 0;
    this.#rung = new AbortController();
    return news;
  }

  /** Resolves after `ms`, or as soon as there is a change or the signal is aborted. Never rejects. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, AbortSignal.any([signal, this.#rung.signal]));
  }
}
