import type { Histogram, MeterReading } from "../../model/meter.ts";

/** Returns what meters have counted since an earlier reading; a provider that was not there then counts from zero. Pure. */
export function metersSince(before: readonly MeterReading[], now: readonly MeterReading[]): readonly MeterReading[] {
  return now.map((reading) => {
    const earlier = before.find(({ provider }) => provider === reading.provider);
    return earlier === undefined ? reading : since(earlier, reading);
  });
}

function since(before: MeterReading, now: MeterReading): MeterReading {
  const callKey = ({ operation, outcome }: MeterReading["calls"][number]): string => `${operation} ${outcome}`;
  const counts = new Map(before.calls.map((call) => [callKey(call), call.count]));
  const durations = new Map(before.durations.map(({ operation, seconds }) => [operation, seconds]));
  return {
    ...now,
    calls: now.calls
      .map((call) => ({ ...call, count: call.count - (counts.get(callKey(call)) ?? 0) }))
      .filter(({ count }) => count > 0),
    durations: now.durations
      .map(({ operation, seconds }) => ({ operation, seconds: less(seconds, durations.get(operation)) }))
      .filter(({ seconds }) => seconds.counts.some((count) => count > 0)),
  };
}

function less(now: Histogram, before: Histogram | undefined): Histogram {
  if (before === undefined) return now;
  return { counts: now.counts.map((count, at) => count - (before.counts[at] ?? 0)), sum: now.sum - before.sum };
}
