import type { RateLimit } from "../../model/meter.ts";
import type { Clock } from "../../ports/system.ts";

const hourMs = 3_600_000;

/** What one answer says about the rate limit. */
export interface RateLimitReport {
  readonly rateLimit: RateLimit;
  /** Local milliseconds until which a 429 without `retry-after` closes the gate. */
  readonly refusedUntilMs: number;
  /** Local milliseconds until which nothing is left; absent when something is, or when the status says more. */
  readonly usedUpUntilMs?: number;
}

/** Understands the rate limit headers of one provider. `nowMs` is the local wall clock. Pure. */
export type RateLimitReading = (status: number, headers: Headers, nowMs: number) => RateLimitReport;

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
 * Returns an open gate. A 429 closes it until `retry-after`, for an hour at most, else for as long as the provider's reading
 * says; so does an answer that says that nothing is left. It never opens early: a later answer can only add to the wait.
 */
export function rateLimitGate(clock: Clock, read: RateLimitReading): RateLimitGate {
  let newest: RateLimit = {};
  let opensAtMonotonicMs: number | undefined;

  function close(untilMs: number, nowMs: number): void {
    const opensAtMs = clock.monotonicMs() + untilMs - nowMs;
    if (untilMs > nowMs && opensAtMs > (opensAtMonotonicMs ?? 0)) opensAtMonotonicMs = opensAtMs;
  }

  /** By the local clock as it goes now, which may have leapt since. */
  function closedUntilMs(): number | undefined {
    const leftMs = (opensAtMonotonicMs ?? 0) - clock.monotonicMs();
    if (leftMs <= 0) opensAtMonotonicMs = undefined;
    return opensAtMonotonicMs === undefined ? undefined : clock.wallMs() + leftMs;
  }

  return {
    rateLimit: () => newest,
    closedUntilMs,
    observe(status, headers) {
      const nowMs = clock.wallMs();
      const said = read(status, headers, nowMs);
      if (Object.keys(said.rateLimit).length > 0) newest = said.rateLimit;
      const afterMs = retryAfterMs(headers.get("retry-after"), nowMs);
      if (status === 429) close(afterMs ?? said.refusedUntilMs, nowMs);
      if (said.usedUpUntilMs !== undefined) close(said.usedUpUntilMs, nowMs);
      return status === 429 ? closedUntilMs() : afterMs;
    },
  };
}

/** Seconds or an HTTP date, an hour from now at most; at least a second, so that `0` is no invitation to a hot loop. */
function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d{1,15}\s*$/.test(header)) return nowMs + Math.min(Math.max(Number(header) * 1000, 1000), hourMs);
  const dateMs = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(dateMs) || dateMs <= nowMs ? undefined : Math.min(dateMs, nowMs + hourMs);
}
