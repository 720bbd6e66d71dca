import type { Clock } from "../../ports/clock.ts";
import type { RateLimit } from "../../ports/ip-provider.ts";

const minuteMs = 60_000;
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
 * Returns an open gate. A 429 closes it until `retry-after`, else until `ratelimit-reset`, else for a minute, and for an
 * hour at most; `ratelimit-remaining: 0` closes it until the reset, and for a minute at most, because it may speak of the
 * burst limit while the reset speaks of the hourly one. It never opens early: a later answer can only add to the wait.
 * @see https://docs.digitalocean.com/reference/api/reference/#rate-limit (verified 2026-08-07)
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
      const said = rateLimitOf(headers);
      if (Object.keys(said).length > 0) newest = said;
      const afterMs = retryAfterMs(headers.get("retry-after"), nowMs);
      if (status === 429) close(afterMs ?? resetAfterRefusal(said, nowMs), nowMs);
      else if (said.remaining === 0) close(Math.min(said.resetMs ?? nowMs + minuteMs, nowMs + minuteMs), nowMs);
      return status === 429 ? closed?.untilMs : afterMs;
    },
  };
}

function resetAfterRefusal({ resetMs }: RateLimit, nowMs: number): number {
  return resetMs === undefined || resetMs <= nowMs ? nowMs + minuteMs : Math.min(resetMs, nowMs + hourMs);
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

/** Seconds or an HTTP date, an hour from now at most; at least a second, so that `0` is no invitation to a hot loop. */
function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  const seconds = wholeNumber(header);
  if (seconds !== undefined) return nowMs + Math.min(Math.max(seconds * 1000, 1000), hourMs);
  const dateMs = header === null || !/[a-z]/i.test(header) ? Number.NaN : Date.parse(header);
  return Number.isNaN(dateMs) || dateMs <= nowMs ? undefined : Math.min(dateMs, nowMs + hourMs);
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
}
