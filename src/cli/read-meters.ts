import type { MeterReading } from "../model/meter.ts";
import type { ProviderMeter } from "../ports/providers.ts";

/** Returns what each provider has counted since it was opened, in the order given. */
export function readMeters(meters: ReadonlyMap<string, ProviderMeter>): readonly MeterReading[] {
  return [...meters].map(([provider, meter]) => ({
    provider,
    calls: meter.calls(),
    durations: meter.durations(),
    rateLimit: meter.rateLimit(),
  }));
}
