import { ProviderError, type ProviderFailure } from "../../model/errors.ts";
import { type Answer, complaintOf, requestIDOf } from "./answer.ts";
import type { CallFacts } from "./call.ts";
import { type FailureDetails, failureText } from "./failure-text.ts";

/** Errors before a byte of the request was on the way: nothing can have taken effect. */
const unsentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** The error of a call with the given details; its text is made here. */
export function providerError(call: CallFacts, details: FailureDetails, cause?: unknown): ProviderError {
  const { failure, status, requestID, notBeforeMs } = details;
  return new ProviderError(
    {
      provider: "digitalocean",
      failure,
      operation: call.operation,
      subject: call.subject,
      status,
      message: failureText(call, details),
      isAmbiguous: details.isAmbiguous ?? false,
      ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
      ...(requestID === undefined ? {} : { requestID }),
    },
    cause === undefined ? undefined : { cause },
  );
}

/**
 * The error of an answer that is not a 2xx. A 404 that is no error of the API (a proxy's page, a wrong URL) is `malformed`,
 * so that nothing is taken for gone because of it. `notBeforeMs` is what the answer asked for.
 */
export function refusalOf(
  call: CallFacts,
  answer: Answer,
  redact: (text: string) => string,
  notBeforeMs?: number,
): ProviderError {
  const complaint = complaintOf(answer);
  const reason = redact(complaint.text);
  const isUnusable = answer.status === 404 && !complaint.hasModel;
  if (isUnusable && answer.bodyError instanceof ProviderError) return answer.bodyError;
  const failure = isUnusable ? "malformed" : failureOfStatus(answer.status, reason);
  const requestID = requestIDOf(answer);
  return providerError(call, {
    failure,
    status: answer.status,
    reason,
    isAmbiguous: call.isWrite && failure === "unavailable",
    ...(requestID === undefined ? {} : { requestID: redact(requestID) }),
    ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
  });
}

/** The error of a call whose connection failed or broke before the whole answer was there. */
export function brokenConnection(call: CallFacts, error: unknown): ProviderError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
  const message = (cause instanceof Error ? cause.message : "") || code || "the connection failed";
  if (message === "unexpected redirect") {
    const reason = "a redirect, which is not followed; check the API's URL";
    return providerError(call, { failure: "malformed", status: 0, reason }, error);
  }
  const reason = message.slice(0, 200);
  const isAmbiguous = call.isWrite && !unsentCodes.has(code);
  return providerError(call, { failure: "unavailable", status: 0, reason, isAmbiguous }, error);
}

function failureOfStatus(status: number, reason: string): ProviderFailure {
  if (status === 401) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 404) return "not-found";
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 408) return "unavailable";
  // The API has no code for it, so the text is the only hint: "already has a pending event", "is locked".
  const isBusy = (status === 409 || status === 422) && /pending|in progress|\blocked\b/i.test(reason);
  return isBusy ? "busy" : "refused";
}
