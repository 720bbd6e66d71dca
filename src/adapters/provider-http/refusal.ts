import { ProviderError } from "../../model/errors.ts";
import type { Answer } from "./answer.ts";
import type { CallFacts } from "./call-facts.ts";
import type { Complaint } from "./complaint.ts";
import { failedCall } from "./failed-call.ts";
import type { RefusalReading } from "./provider-api.ts";

/** An answer that is no success: what it says and the error it becomes unless the call expected it. */
export type Refusal<C extends Complaint> = C & { readonly error: ProviderError };

/** What an answer is read with. */
export interface ReadingTerms {
  /** Takes the token out of a text. */
  readonly redact: (text: string) => string;
  /** When to call again, if the answer asked for a wait; local milliseconds. */
  readonly notBeforeMs: number | undefined;
}

/**
 * The refusal in an answer that is not a 2xx, or a 2xx that says that it is no success. One without any error of the API is
 * `malformed` when it is such a 2xx or a 404 (a proxy's page, a wrong URL), so that nothing is taken for gone because of it.
 */
export function refusalOf<C extends Complaint>(
  api: RefusalReading<C>,
  call: CallFacts,
  answer: Answer,
  { redact, notBeforeMs }: ReadingTerms,
): Refusal<C> {
  const complaint = api.complaintOf(answer);
  const isUnusable = !complaint.hasModel && (answer.status === 404 || answer.status < 300);
  if (isUnusable && answer.bodyError instanceof ProviderError) return { ...complaint, error: answer.bodyError };
  const failure = isUnusable ? "malformed" : api.failureOf(answer.status, complaint);
  const requestID = api.requestIDOf(answer);
  const error = failedCall(api, call, {
    failure,
    status: answer.status,
    reason: redact(complaint.text),
    isAmbiguous: call.isWrite && (failure === "unavailable" || (isUnusable && answer.status < 300)),
    ...(requestID === undefined ? {} : { requestID: redact(requestID) }),
    ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
  });
  return { ...complaint, error };
}
