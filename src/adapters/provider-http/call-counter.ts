import {
  addHistograms,
  CALL_BOUNDS,
  type CallCount,
  type CallDuration,
  type Histogram,
  histogramOf,
} from "../../model/meter.ts";

/** Counts requests by operation and outcome, and how long they took. */
export interface CallCounter {
  add(operation: string, outcome: CallCount["outcome"], ms: number): void;
  /** Sorted by operation, then outcome; nothing with count 0. */
  calls(): readonly CallCount[];
  /** Sorted by operation. */
  durations(): readonly CallDuration[];
}

/** Returns a counter at zero. */
export function callCounter(): CallCounter {
  const counts = new Map<string, CallCount>();
  const durations = new Map<string, Histogram>();
  return {
    add(operation, outcome, ms) {
      const key = `${operation} ${outcome}`;
      counts.set(key, { operation, outcome, count: (counts.get(key)?.count ?? 0) + 1 });
      durations.set(operation, addHistograms(durations.get(operation), histogramOf([ms / 1000], CALL_BOUNDS)));
    },
    calls: () => [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count),
    durations: () =>
      [...durations].sort(([a], [b]) => (a < b ? -1 : 1)).map(([operation, seconds]) => ({ operation, seconds })),
  };
}
