import type { Clock } from "../../src/ports/system.ts";

/** A rest between two passes is no longer; milliseconds. */
const REST_MS = 50;
/** After so many rests in one instant the world gets older all the same: the process waits for a moment that is near. */
const MOST_RESTS = 20;

/**
 * The time that a watching process measures its intervals with. It runs with the world's, and jumps when a scenario does not want to wait for an interval: waits end then,
 * and the world is not a moment older. Nor does the rest between two passes make it older: what a scenario says of times is about the objects.
 */
export class LoopClock implements Clock {
  readonly #clock: Clock;
  #aheadMs = 0;
  #rests = { atMs: 0, count: 0 };
  #jump = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs() + this.#aheadMs;
  }

  wallMs(): number {
    return this.#clock.wallMs();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms > 0 && ms <= REST_MS && this.#mayRest()) {
      this.#aheadMs += ms;
      return;
    }
    const jump = this.#jump.signal;
    await this.#clock.sleep(ms, signal === undefined ? jump : AbortSignal.any([signal, jump]));
  }

  #mayRest(): boolean {
    const atMs = this.#clock.monotonicMs();
    this.#rests = { atMs, count: atMs === this.#rests.atMs ? this.#rests.count + 1 : 1 };
    return this.#rests.count <= MOST_RESTS;
  }

  /** Ends whatever waits, as if so much time had passed. */
  jump(ms: number): void {
    const jump = this.#jump;
    this.#aheadMs += ms;
    this.#jump = new AbortController();
    jump.abort();
  }
}
