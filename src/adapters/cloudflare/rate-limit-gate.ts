import type { Clock } from "../../ports/clock.ts";
import type { RateLimit } from "../../ports/ip-provider.ts";
import { quotaOf, type RateLimitItem, rateLimitItems } from "./rate-limit-header.ts";

/** Cloudflare blocks a user for this long after too many requests. */
const blockSeconds = 300;
const hourMs = 3_600_000;

/** Keeps a provider's rate limit: closes when an answer says so and opens again by itself. */
export interface RateLimitGate {
  /** Local milliseconds before which nothing may be sent, or undefined while the gate is open. */
  closedUntilMs(): number | undefined;
  /** Takes in the headers of one answer. Returns when to call again if the answer asked for a wait, in local milliseconds. */
  observe(status: number, headers: Headers): number | undefined;
  /** What the headers of the newest answer that had any said. */
  rateLimit(): RateLimit;
}

/**
 * Returns an open gate. A 429 closes it until `retry-after`, else for the five minutes of Cloudflare's block, and for an
 * hour at most; `ratelimit: …;r=0;t=…` closes it for `t` seconds, and for five minutes at most. It never opens early: a
 * later answer can only add to the wait.
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ (verified 2026-11-21)
 */
export function rateLimitGate(clock: Clock): RateLimitGate {
  let newest: RateLimit = {};
  let closed: { readonly untilMs: number; readonly opensAtMonotonicMs: number } | undefined;

  function close(untilMs: number, nowMs: number): void {
    if (untilMs <= nowMs || (closed !== undefined && closed.untilMs >= untilMs)) return;
    closed = { untilMs, opensAtMonotonicMs: clock.monotonicMs() + (untilMs - nowMs) };
  }

  return {
    rateLimit: () => newest,
    closedUntilMs() {
      if (closed !== undefined && clock.monotonicMs() >= closed.opensAtMonotonicMs) closed = undefined;
      return closed?.untilMs;
    },
    observe(status, headers) {
      const nowMs = clock.wallMs();
      const items = rateLimitItems(headers.get("ratelimit"));
      const said = rateLimitOf(items, quotaOf(headers.get("ratelimit-policy")), nowMs);
      if (Object.keys(said).length > 0) newest = said;
      const afterMs = retryAfterMs(headers.get("retry-after"), nowMs);
      if (status === 429) close(afterMs ?? nowMs + blockSeconds * 1000, nowMs);
      for (const { remaining, resetSeconds = blockSeconds } of items) {
        if (remaining === 0) close(nowMs + Math.min(resetSeconds, blockSeconds) * 1000, nowMs);
      }
      return status === 429 ? closed?.untilMs : afterMs;
    },
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

/** Seconds or an HTTP date, an hour from now at most; at least a second, so that `0` is no invitation to a hot loop. */
function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d{1,15}\s*$/.test(header)) return nowMs + Math.min(Math.max(Number(header) * 1000, 1000), hourMs);
  const dateMs = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(dateMs) || dateMs <= nowMs ? undefined : Math.min(dateMs, nowMs + hourMs);
}
