import type { Clock } from "../../ports/system.ts";

const RESOLUTION_MS = 1000;
const TOLERANCE_MS = 1500;

/**
 * The API server's time, from the `Date` headers of its answers. They have whole seconds only, so local time is used while it
 * agrees with them to 1.5 s and keeps its milliseconds; otherwise the estimate is moved no further than the newest header asks.
 * Between answers time runs by the local monotonic clock, so a change of the local wall clock moves nothing.
 */
export class ServerClock {
  readonly #clock: Clock;
  #known: { readonly serverMs: number; readonly monotonicMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of an answer's `Date` header that has just arrived; anything unreadable is ignored. */
  observe(date: string | undefined): void {
    const headerMs = Date.parse(date ?? "");
    if (Number.isNaN(headerMs)) return;
    const latestMs = headerMs + RESOLUTION_MS - 1;
    const localMs = this.#clock.wallMs();
    const isLocalRight = localMs > headerMs - TOLERANCE_MS && localMs < latestMs + TOLERANCE_MS;
    const estimateMs = this.#known === undefined ? headerMs : this.nowMs();
    const serverMs = isLocalRight ? localMs : Math.min(Math.max(estimateMs, headerMs), latestMs);
    this.#known = { serverMs, monotonicMs: this.#clock.monotonicMs() };
  }

  /** Milliseconds since the epoch; local time before the first answer. */
  nowMs(): number {
    if (this.#known === undefined) return this.#clock.wallMs();
    return this.#known.serverMs + Math.round(this.#clock.monotonicMs() - this.#known.monotonicMs);
  }
}
