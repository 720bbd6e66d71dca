import { KubeError, ProviderError } from "../model/errors.ts";

/** How a failure is retried: soon when it may pass by itself, rarely when somebody must change something. */
export function retryClassOf(error: Error): "fast" | "slow" {
  if (error instanceof ProviderError) {
    return ["unauthorized", "forbidden", "refused", "not-found"].includes(error.failure) ? "slow" : "fast";
  }
  if (error instanceof KubeError) {
    return ["unauthorized", "forbidden", "invalid", "missing-resource"].includes(error.failure) ? "slow" : "fast";
  }
  return "fast";
}
