import type { Clock } from "../../../ports/system.ts";

/** How long a stream may say nothing, and how long it may last. */
export interface GuardLimits {
  readonly silenceMs: number;
  readonly lifeMs: number;
  /** Ends the stream, whatever it says. */
  readonly signal: AbortSignal;
}

/** Ends a stream whose other side has gone without a word: a connection to nobody looks like one on which nothing happens. */
export class SilenceGuard {
  readonly #clock: Clock;
  readonly #limits: GuardLimits;
  readonly #startedMs: number;
  readonly #stream = new AbortController();
  readonly #rest = new AbortController();
  #heardMs: number;
  #firedAfterMs: number | undefined;

  constructor(clock: Clock, limits: GuardLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#startedMs = clock.monotonicMs();
    this.#heardMs = this.#startedMs;
    if (limits.signal.aborted) this.#stream.abort();
    limits.signal.addEventListener("abort", this.#pass, { once: true });
    void this.#watchOver();
  }

  /** For the stream. */
  get signal(): AbortSignal {
    return this.#stream.signal;
  }

  /** The limit that was passed, milliseconds; undefined while none was. */
  get firedAfterMs(): number | undefined {
    return this.#firedAfterMs;
  }

  /** The other side has said something. */
  hear(): void {
    this.#heardMs = this.#clock.monotonicMs();
  }

  /** Guards no longer; the stream is left as it is. */
  end(): void {
    this.#limits.signal.removeEventListener("abort", this.#pass);
    this.#rest.abort();
  }

  async #watchOver(): Promise<void> {
    const { silenceMs, lifeMs } = this.#limits;
    while (!this.#rest.signal.aborted) {
      const [silentMs, livedMs] = [this.#sinceMs(this.#heardMs), this.#sinceMs(this.#startedMs)];
      const leftMs = Math.min(silenceMs - silentMs, lifeMs - livedMs);
      if (leftMs <= 0) {
        this.#firedAfterMs = silentMs >= silenceMs ? silenceMs : lifeMs;
        this.#stream.abort();
        return;
      }
      await this.#clock.sleep(leftMs, this.#rest.signal);
    }
  }

  #sinceMs(ms: number): number {
    return this.#clock.monotonicMs() - ms;
  }

  readonly #pass = (): void => this.#stream.abort();
}
