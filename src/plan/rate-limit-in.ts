import { ProviderError } from "../model/errors.ts";
import type { ProviderFacts } from "../model/observation.ts";
import type { Outcome } from "../model/run.ts";

/** Why a provider may not be asked any more after these outcomes: it asked for no calls for a while; undefined when it did not. Pure. */
export function rateLimitIn(outcomes: readonly Outcome[], skewMs: number): ProviderFacts["unusable"] {
  const limited = outcomes
    .flatMap((outcome) => (outcome.outcome === "failed" ? [outcome.error] : []))
    .find((error) => error instanceof ProviderError && error.failure === "rate-limited");
  if (!(limited instanceof ProviderError)) return undefined;
  const { message, notBeforeMs } = limited;
  const until = notBeforeMs === undefined ? {} : { notBeforeMs: notBeforeMs + skewMs };
  return { reason: "RateLimited", message, ...until };
}
