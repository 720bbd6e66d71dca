import type { ProviderFailure } from "../../model/errors.ts";
import type { Complaint } from "../provider-http/complaint.ts";
import type { Refusal } from "../provider-http/refusal.ts";

/** Says of a call that this failure is an answer too, and what it means. */
export function expectedFailure<T>(
  failure: ProviderFailure,
  value: T,
): (refusal: Refusal<Complaint>) => { readonly value: T } | undefined {
  return ({ error }) => (error.failure === failure ? { value } : undefined);
}
