import { Refusal } from "../provider.ts";

/** The calls that each token has left: one comes back each second. Lives in memory only: a new process starts afresh. */
export class RateBucket {
  readonly #left = new Map<string, { calls: number; atMs: number }>();

  /** Counts one call. @throws Refusal 429 when none is left */
  take(token: string, most: number, nowMs: number): void {
    const left = this.#refilled(token, most, nowMs);
    if (left.calls < 1) throw new Refusal(429, "rate_limit_exceeded", `limit of ${most} requests per hour reached`);
    left.calls -= 1;
  }

  /** The headers of an answer. The reset is when all calls are there again, not when the next one is allowed. */
  headers(token: string, most: number, nowMs: number): Readonly<Record<string, string>> {
    const { calls } = this.#refilled(token, most, nowMs);
    return {
      "ratelimit-limit": String(most),
      "ratelimit-remaining": String(Math.floor(calls)),
      "ratelimit-reset": String(Math.ceil(nowMs / 1000 + most - calls)),
    };
  }

  #refilled(token: string, most: number, nowMs: number): { calls: number; atMs: number } {
    const left = this.#left.get(token) ?? { calls: most, atMs: nowMs };
    const seconds = Math.max(0, nowMs - left.atMs) / 1000;
    const refilled = { calls: Math.min(most, left.calls + seconds), atMs: nowMs };
    this.#left.set(token, refilled);
    return refilled;
  }
}
