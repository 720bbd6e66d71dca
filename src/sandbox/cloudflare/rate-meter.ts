import { APIRefusal } from "./api-refusal.ts";

const windowMs = 300_000;
const blockMs = 300_000;

/** What the rate-limit headers say. */
export interface RateFacts {
  readonly remaining: number;
  readonly resetSeconds: number;
}

/**
 * Counts the requests of the account's user, whatever token they come with, in sliding five minutes; one too many blocks
 * everything for five minutes. Lives in memory only: a new process starts afresh.
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ verified 2026-11-21
 */
export class RateMeter {
  private times: number[] = [];
  private blockedUntilMs = Number.NEGATIVE_INFINITY;

  /** Counts one request. @throws APIRefusal 429 when it is one too many, or comes while everything is blocked */
  count(limit: number, nowMs: number): void {
    this.times = this.times.filter((time) => time > nowMs - windowMs);
    if (nowMs >= this.blockedUntilMs && this.times.length >= limit) this.blockedUntilMs = nowMs + blockMs;
    if (nowMs < this.blockedUntilMs) {
      const error = { code: 971, message: "Please wait and consider throttling your request speed" };
      throw new APIRefusal(429, [error], Math.ceil((this.blockedUntilMs - nowMs) / 1000));
    }
    this.times.push(nowMs);
  }

  /** The headers of an answer. */
  facts(limit: number, nowMs: number): RateFacts {
    const isBlocked = nowMs < this.blockedUntilMs;
    const resetMs = isBlocked ? this.blockedUntilMs : (this.times[0] ?? nowMs) + windowMs;
    return {
      remaining: isBlocked ? 0 : Math.max(0, limit - this.times.length),
      resetSeconds: Math.max(1, Math.ceil((resetMs - nowMs) / 1000)),
    };
  }
}
