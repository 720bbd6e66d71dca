import { CALL_BOUNDS, type MeterReading } from "../../model/meter.ts";
import type { Plan } from "../../model/plan.ts";
import { type Sample, sample } from "./sample.ts";
import type { Totals } from "./totals.ts";

/** The Go operator's labels for the object a call was made for; one call of flipop serves many. */
const NO_OBJECT = { kind: "", namespace: "", name: "" };

/** Returns what is told of calls to providers over all runs. Pure. */
export function callSamples({ calls, durations }: Totals): readonly Sample[] {
  return [
    ...Object.entries(calls).map(([key, count]) => {
      const [provider = "", call = "", outcome = ""] = key.split(" ");
      return sample("flipop_providers_calls_total", { provider, call, outcome, ...NO_OBJECT }, count);
    }),
    ...Object.entries(durations).map(([key, histogram]) => {
      const [provider = "", call = ""] = key.split(" ");
      const value = { histogram, bounds: CALL_BOUNDS };
      return sample("flipop_providers_call_duration_seconds", { provider, call, ...NO_OBJECT }, value);
    }),
  ];
}

/** Returns what is left of rate limits and quotas, and what could not be read. Pure. */
export function limitSamples({ budget, gaps }: Plan, meters: readonly MeterReading[]): readonly Sample[] {
  return [
    ...meters.flatMap(({ provider, rateLimit: { remaining, limit } }) => [
      ...(remaining === undefined ? [] : [sample("flipop_provider_ratelimit_remaining", { provider }, remaining)]),
      ...(limit === undefined ? [] : [sample("flipop_provider_ratelimit_limit", { provider }, limit)]),
    ]),
    ...budget.flatMap(({ provider, addressCount, addressLimit }) => [
      ...(addressCount === undefined
        ? []
        : [sample("flipop_provider_quota", { provider, type: "used" }, addressCount)]),
      ...(addressLimit === undefined
        ? []
        : [sample("flipop_provider_quota", { provider, type: "limit" }, addressLimit)]),
    ]),
    ...[...new Set([...meters, ...gaps].map(({ provider }) => provider))].map((provider) =>
      sample(
        "flipop_unreadable",
        { provider },
        gaps.filter((gap) => gap.provider === provider && gap.putOff === undefined).length,
      ),
    ),
    ...meters.map(({ provider }) => {
      const putOff = gaps.find((gap) => gap.provider === provider && gap.putOff !== undefined)?.putOff;
      return sample("flipop_dns_put_off", { provider }, putOff?.names ?? 0);
    }),
  ];
}
