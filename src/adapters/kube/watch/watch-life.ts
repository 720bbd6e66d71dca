import type { Clock } from "../../../ports/system.ts";

/** A watch that held for so long was sound, and its end is no sign of trouble. */
const SOUND_MS = 10_000;
/** A watch that ends in good order sooner than this must not be asked for again at once. */
const ABRUPT_MS = 1_000;

/** How one watch went, from the moment the server began it. */
export class WatchLife {
  readonly #clock: Clock;
  #openedMs: number | undefined;
  #hasTold = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of a batch. True for the first, which says that the server watches. */
  hear(events: readonly unknown[]): boolean {
    const isFirst = this.#openedMs === undefined;
    this.#openedMs ??= this.#clock.monotonicMs();
    this.#hasTold ||= events.length > 0;
    return isFirst;
  }

  /** False when it was over before it began. */
  get wasReal(): boolean {
    return this.#hasTold || !this.isAbrupt;
  }

  /** True when it was so short that the server cannot have meant it. */
  get isAbrupt(): boolean {
    return this.#lastedMs() < ABRUPT_MS;
  }

  /** True when it held so long that earlier failures no longer count. */
  get wasSound(): boolean {
    return this.#lastedMs() >= SOUND_MS;
  }

  #lastedMs(): number {
    return this.#openedMs === undefined ? 0 : this.#clock.monotonicMs() - this.#openedMs;
  }
}
