import type { Histogram } from "./histogram.ts";

/** How often one operation had one result, since start. */
export interface CallCount {
  readonly operation: string;
  readonly outcome: "success" | "error";
  readonly count: number;
}

/** How long the requests of one operation took, seconds, in buckets of {@link CALL_BOUNDS}. */
export interface CallDuration {
  readonly operation: string;
  readonly seconds: Histogram;
}

/** What the rate-limit headers of the newest answer said. */
export interface RateLimit {
  readonly limit?: number;
  readonly remaining?: number;
  /** Local milliseconds. */
  readonly resetMs?: number;
}

/** What the meter of one provider shows at the end of a run. */
export interface MeterReading {
  readonly provider: string;
  readonly calls: readonly CallCount[];
  readonly durations: readonly CallDuration[];
  readonly rateLimit: RateLimit;
}
