import type { CallAllowance } from "./call-budget.ts";

/** What one token may ask of a provider at a time, and for how long. */
export interface CallLimits {
  /** Requests that may be in flight at the same time; later ones wait. */
  readonly mostInFlight: number;
  /** How many it may send in a span of time. */
  readonly allowance: CallAllowance;
  /** Deadline of one call over headers, body and the repeat of a read, unless the options say otherwise. */
  readonly timeoutMs: number;
  /** Wait before a read that failed in passing is repeated. */
  readonly repeatDelayMs: number;
}
