import type { CallCount } from "../../ports/ip-provider.ts";

/** Counts requests by operation and outcome. */
export interface CallCounter {
  add(operation: string, outcome: CallCount["outcome"]): void;
  /** Sorted by operation, then outcome; nothing with count 0. */
  calls(): readonly CallCount[];
}

/** Returns a counter at zero. */
export function callCounter(): CallCounter {
  const counts = new Map<string, CallCount>();
  return {
    add(operation, outcome) {
      const key = `${operation} ${outcome}`;
      counts.set(key, { operation, outcome, count: (counts.get(key)?.count ?? 0) + 1 });
    },
    calls: () => [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count),
  };
}
