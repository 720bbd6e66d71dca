import type { ProviderError } from "../model/errors.ts";

/** A refusal of the token or a rate limit is about the provider, not about one address. */
export function concernsWholeProvider({ failure }: ProviderError): boolean {
  return failure === "unauthorized" || failure === "forbidden" || failure === "rate-limited";
}
