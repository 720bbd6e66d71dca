import type { Clock } from "../ports/system.ts";

/** What a backend takes from the machine it runs on; a test may give it another clock, or less patience with providers. */
export interface Machine {
  readonly clock: Clock;
  /** Deadline of one call to a provider; absent = the adapter's own. */
  readonly providerTimeoutMs?: number;
  /** When the run must be over, monotonic: bounds every call to a provider. Absent = never. */
  readonly untilMs?: number;
}
