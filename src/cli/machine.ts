import type { MeterReading } from "../model/meter.ts";
import type { ProviderMeter } from "../ports/providers.ts";
import type { Clock, LockState } from "../ports/system.ts";

/** What a backend takes from the machine it runs on; a test may give it another clock, or less patience with providers. */
export interface Machine {
  readonly clock: Clock;
  /** Deadline of one call to a provider; absent = the adapter's own. */
  readonly providerTimeoutMs?: number;
  /** When the run must be over, monotonic: bounds every call to a provider. Absent = never. */
  readonly untilMs?: number;
}

/** The lock of a run with `--no-lock`: always held, never lost, and notes for later runs go nowhere. */
export const NO_LOCK: LockState = {
  isHeld: () => true,
  lost: new AbortController().signal,
  annotations: () => ({}),
  annotate: () => Promise.resolve(),
};

/** Returns what each provider has counted since it was opened, in the order given. */
export function readMeters(meters: ReadonlyMap<string, ProviderMeter>): readonly MeterReading[] {
  return [...meters].map(([provider, meter]) => ({
    provider,
    calls: meter.calls(),
    durations: meter.durations(),
    rateLimit: meter.rateLimit(),
  }));
}
