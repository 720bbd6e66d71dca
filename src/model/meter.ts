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

/** Upper bounds of the buckets of a call's duration, seconds, ascending: the Go client's defaults. */
export const CALL_BOUNDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Upper bounds of the buckets of a failover's duration, seconds, ascending. */
export const FAILOVER_BOUNDS: readonly number[] = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/** Values sorted into buckets. */
export interface Histogram {
  /** How many fell into each bucket alone, one more than there are bounds: the last is for what is above all. */
  readonly counts: readonly number[];
  /** The values added up. */
  readonly sum: number;
}

/** Returns a histogram of these values; a value equal to a bound falls into its bucket. Pure. */
export function histogramOf(values: readonly number[], bounds: readonly number[]): Histogram {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  for (const value of values) {
    const found = bounds.findIndex((bound) => value <= bound);
    const at = found === -1 ? bounds.length : found;
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return { counts, sum: values.reduce((sum, value) => sum + value, 0) };
}

/** Returns both together; of different numbers of buckets the second alone. Pure. */
export function addHistograms(before: Histogram | undefined, more: Histogram): Histogram {
  if (before?.counts.length !== more.counts.length) return more;
  return { counts: more.counts.map((count, at) => count + (before.counts[at] ?? 0)), sum: before.sum + more.sum };
}
