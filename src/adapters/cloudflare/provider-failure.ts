import { ProviderError, type ProviderFailure } from "../../model/errors.ts";
import type { Answer } from "./answer.ts";
import type { CallFacts } from "./call.ts";
import { type Complaint, complaintOf, requestIDOf } from "./complaint.ts";
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

/** An answer that is no success: what it says and the error it becomes unless the call expected it. */
export interface Refusal extends Complaint {
  readonly error: ProviderError;
}

/** The error of a call with the given details; its text is made here. */
export function providerError(call: CallFacts, details: FailureDetails, cause?: unknown): ProviderError {
  const { failure, status, requestID, notBeforeMs } = details;
  return new ProviderError(
    {
      provider: "cloudflare",
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
 * The refusal in an answer that is not a 2xx, or a 2xx with `success: false`. One without any error of the API is `malformed`
 * when it is such a 2xx or a 404 (a proxy's page, a wrong URL), so that nothing is taken for gone because of it.
 * `notBeforeMs` is what the answer asked for.
 */
export function refusalOf(
  call: CallFacts,
  answer: Answer,
  redact: (text: string) => string,
  notBeforeMs?: number,
): Refusal {
  const complaint = complaintOf(answer);
  const isUnusable = !complaint.hasModel && (answer.status === 404 || answer.status < 300);
  if (isUnusable && answer.bodyError instanceof ProviderError) return { ...complaint, error: answer.bodyError };
  const failure = isUnusable ? "malformed" : failureOf(answer.status, complaint);
  const requestID = requestIDOf(answer);
  const error = providerError(call, {
    failure,
    status: answer.status,
    reason: redact(complaint.text),
    isAmbiguous: call.isWrite && (failure === "unavailable" || (isUnusable && answer.status < 300)),
    ...(requestID === undefined ? {} : { requestID: redact(requestID) }),
    ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
  });
  return { ...complaint, error };
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

/** What these codes mean whatever the status: the token is no token, or there is no such thing. */
const failureOfCode: ReadonlyMap<number, ProviderFailure> = new Map([
  [6003, "unauthorized"], // Invalid request headers; the chain says that it is the Authorization header.
  [9103, "unauthorized"],
  [9106, "unauthorized"],
  [7000, "not-found"], // No route for that URI.
  [7003, "not-found"], // Could not route: no such zone.
  [81_044, "not-found"],
]);

function failureOf(status: number, complaint: Complaint): ProviderFailure {
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 408) return "unavailable";
  const listed = complaint.codes.map((code) => failureOfCode.get(code)).find((failure) => failure !== undefined);
  return listed ?? tokenFailure(status, complaint) ?? (status === 404 ? "not-found" : "refused");
}

/**
 * 401 is a bad token; 403 is a lack of permission, although its text is often "Authentication error" (10000), except when
 * 9109 says that the token itself is invalid.
 * @see https://github.com/cloudflare/terraform-provider-cloudflare/issues/1533 (verified 2026-11-21)
 */
function tokenFailure(status: number, { codes, text }: Complaint): ProviderFailure | undefined {
  if (codes.includes(9109)) return status === 401 || /invalid access token/i.test(text) ? "unauthorized" : "forbidden";
  if (status === 403) return "forbidden";
  return status === 401 || codes.includes(10_000) ? "unauthorized" : undefined;
}
