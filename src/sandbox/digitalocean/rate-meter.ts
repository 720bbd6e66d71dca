import { CloudRefusal } from "./cloud-refusal.ts";

/** What the rate-limit headers say. */
export interface RateFacts {
  readonly limit: number;
  /** Calls left of the hour; 0 also while only the burst is used up. */
  readonly remaining: number;
  /** Epoch seconds at which the oldest counted request expires. */
  readonly resetSeconds: number;
}

/** The limits of one token. */
export interface RateLimits {
  readonly per_hour: number;
  readonly per_minute: number;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;

/**
 * Counts the requests of each token in a sliding hour, with a burst limit per sliding minute. Lives in memory only:
 * a new process starts with a fresh hour.
 * @see https://docs.digitalocean.com/reference/api/digitalocean/#section/Introduction/Rate-Limit verified 2026-08-07
 */
export class RateMeter {
  private readonly calls = new Map<string, number[]>();

  /** Counts one request. Returns undefined, or the refusal with which it is answered instead; refused ones are not counted. */
  count(token: string, limits: RateLimits, nowMs: number): CloudRefusal | undefined {
    const times = this.recent(token, nowMs);
    const burst = times.slice(-limits.per_minute).filter((time) => time > nowMs - minuteMs);
    if (times.length >= limits.per_hour) return tooMany();
    const first = burst[0] ?? nowMs;
    if (burst.length >= limits.per_minute) return tooMany(Math.max(1, Math.ceil((first + minuteMs - nowMs) / 1000)));
    times.push(nowMs);
    return undefined;
  }

  /** The headers of an answer to this token. */
  facts(token: string, limits: RateLimits, nowMs: number): RateFacts {
    const times = this.recent(token, nowMs);
    const inMinute = times.filter((time) => time > nowMs - minuteMs).length;
    const left = Math.max(0, limits.per_hour - times.length);
    return {
      limit: limits.per_hour,
      remaining: inMinute >= limits.per_minute ? 0 : left,
      resetSeconds: Math.ceil(((times[0] ?? nowMs) + hourMs) / 1000),
    };
  }

  private recent(token: string, nowMs: number): number[] {
    const times = this.calls.get(token) ?? [];
    this.calls.set(token, times);
    const live = times.findIndex((time) => time > nowMs - hourMs);
    times.splice(0, live === -1 ? times.length : live);
    return times;
  }
}

function tooMany(retryAfterSeconds?: number): CloudRefusal {
  return new CloudRefusal(429, "too_many_requests", "API rate limit exceeded.", retryAfterSeconds);
}
