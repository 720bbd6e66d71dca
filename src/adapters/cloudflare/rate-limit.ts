import type { RateLimit } from "../../model/meter.ts";
import type { RateLimitReport } from "../provider-http/rate-limit-gate.ts";
import { quotaOf, type RateLimitItem, rateLimitItems } from "./rate-limit-header.ts";

/** Cloudflare blocks a user for this long after too many requests. */
const blockSeconds = 300;

/**
 * What Cloudflare's headers say. A 429 lasts for the five minutes of Cloudflare's block; `ratelimit: …;r=0;t=…` lasts for `t`
 * seconds, and for five minutes at most. Pure.
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ (verified 2026-11-21)
 */
export function readRateLimit(_status: number, headers: Headers, nowMs: number): RateLimitReport {
  const items = rateLimitItems(headers.get("ratelimit"));
  const waits = items
    .filter(({ remaining }) => remaining === 0)
    .map(({ resetSeconds = blockSeconds }) => Math.min(resetSeconds, blockSeconds));
  return {
    rateLimit: rateLimitOf(items, quotaOf(headers.get("ratelimit-policy")), nowMs),
    refusedUntilMs: nowMs + blockSeconds * 1000,
    ...(waits.length === 0 ? {} : { usedUpUntilMs: nowMs + Math.max(...waits) * 1000 }),
  };
}

/** What the item with the fewest requests left says. */
function rateLimitOf(items: readonly RateLimitItem[], limit: number | undefined, nowMs: number): RateLimit {
  const tightest = items.toSorted((a, b) => a.remaining - b.remaining)[0];
  const resetSeconds = tightest?.resetSeconds;
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(tightest === undefined ? {} : { remaining: tightest.remaining }),
    ...(resetSeconds === undefined ? {} : { resetMs: nowMs + resetSeconds * 1000 }),
  };
}
