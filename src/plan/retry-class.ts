import { ProviderError, type ProviderFailure } from "../model/errors.ts";

/** What only a person, or somebody else's change, can mend. */
const SLOW: ReadonlySet<ProviderFailure> = new Set(["unauthorized", "forbidden", "refused", "not-found"]);

/** How a failed attempt is retried: rarely where the provider refused it, else soon. Calls to the cluster are cheap and fail for its own reasons: soon. */
export function retryClassOf(error: Error): "fast" | "slow" {
  return error instanceof ProviderError && SLOW.has(error.failure) ? "slow" : "fast";
}
