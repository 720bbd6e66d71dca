import type { RateLimit } from "../../model/meter.ts";
import type { RateLimitReport } from "../provider-http/rate-limit-gate.ts";

const minuteMs = 60_000;
const hourMs = 3_600_000;

/**
 * What DigitalOcean's headers say. A 429 lasts until `ratelimit-reset`, else for a minute, and for an hour at most;
 * `ratelimit-remaining: 0` lasts until the reset, and for a minute at most, because it may speak of the burst limit while the
 * reset speaks of the hourly one. Pure.
 * @see https://docs.digitalocean.com/reference/api/reference/#rate-limit (verified 2026-08-07)
 */
export function readRateLimit(status: number, headers: Headers, nowMs: number): RateLimitReport {
  const rateLimit = rateLimitOf(headers);
  const { remaining, resetMs } = rateLimit;
  const isUsedUp = status !== 429 && remaining === 0;
  return {
    rateLimit,
    refusedUntilMs: resetMs === undefined || resetMs <= nowMs ? nowMs + minuteMs : Math.min(resetMs, nowMs + hourMs),
    ...(isUsedUp ? { usedUpUntilMs: Math.min(resetMs ?? nowMs + minuteMs, nowMs + minuteMs) } : {}),
  };
}

function rateLimitOf(headers: Headers): RateLimit {
  const limit = wholeNumber(headers.get("ratelimit-limit"));
  const remaining = wholeNumber(headers.get("ratelimit-remaining"));
  const resetSeconds = wholeNumber(headers.get("ratelimit-reset"));
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(resetSeconds === undefined ? {} : { resetMs: resetSeconds * 1000 }),
  };
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
}
