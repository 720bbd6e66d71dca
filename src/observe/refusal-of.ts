import type { ProviderError } from "../model/errors.ts";
import type { ProviderFacts } from "../model/observation.ts";

/**
 * Why a provider cannot be used after it refused a token or asked for no more calls.
 * @param skewMs - how far the API server's clock was ahead of the local one then: providers' times are local, an observation's are the server's.
 */
export function refusalOf(error: ProviderError, skewMs: number): NonNullable<ProviderFacts["unusable"]> {
  if (error.failure !== "rate-limited") return { reason: "ProviderUnavailable", message: error.message };
  const common = { reason: "RateLimited" as const, message: error.message };
  return error.notBeforeMs === undefined ? common : { ...common, notBeforeMs: error.notBeforeMs + skewMs };
}
