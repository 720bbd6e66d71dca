// What a failed call to a provider becomes: a ProviderError with one sentence for people.

import { noCallBefore, ProviderError, type ProviderFailure } from "../../model/errors.ts";
import { ProxyFailure } from "./agents.ts";
import { type Answer, type Fields, fieldsOf, jsonOf } from "./answer.ts";

/** What texts, errors and counters need to know about one call. */
export interface CallInfo {
  /**
   * The port's operation: `list`, `get`, `machine`, `limit`, `assign`, `unassign`, `action`, `create`, `delete`; for DNS `zone`,
   * `records`, `texts`, `write`, `adjust`, or the steps of a write: `add-record`, `set-ttl`, `remove-record`; for firewalls `firewalls`, `firewall`,
   * `machines`, `tagged-machines`, `open-ports`, `close-ports`, `add-machines`, `remove-machines`.
   */
  readonly operation: string;
  /** The address, machine, zone, FQDN, firewall or tag the call is about; `""` for a whole list. */
  readonly subject: string;
  /** Infinitive with its object, for people: `assign 203.0.113.1 to droplet 42`. */
  readonly doing: string;
  /** What the token must be allowed for the call, as the provider's control panel names it: `reserved_ip:update`. */
  readonly scope: string;
  /** True for everything but a read. A write is never repeated, and a missing answer leaves open whether it took effect. */
  readonly isWrite: boolean;
  /** What a 404 means and what to do about it, when the provider's own words leave that open: one sentence. */
  readonly notFoundAdvice?: string;
}

/** How errors speak about one provider. */
export interface ProviderTexts {
  /** As in ProviderError: `digitalocean`. */
  readonly provider: string;
  /** For people: `DigitalOcean`. */
  readonly label: string;
  /** What to do about a token that lacks this scope: one sentence. */
  readonly scopeAdvice: (scope: string) => string;
}

/** What is known about a failed call, for its text. */
export interface FailureDetails {
  readonly failure: ProviderFailure;
  /** 0 when there was no answer. */
  readonly status: number;
  /** The server's words, or what went wrong on the way. */
  readonly reason: string;
  readonly requestID?: string | undefined;
  /** Local milliseconds before which no further call may be made. */
  readonly notBeforeMs?: number | undefined;
  readonly isAmbiguous?: boolean;
}

/** Returns the error of a call with the given details; its text is made here. */
export function failedCall(
  texts: ProviderTexts,
  call: CallInfo,
  details: FailureDetails,
  cause?: unknown,
): ProviderError {
  const { failure, status, requestID, notBeforeMs, isAmbiguous = false } = details;
  const { operation, subject } = call;
  const message = failureText(texts, call, details);
  return new ProviderError(
    {
      ...{ provider: texts.provider, failure, operation, subject, status, message, isAmbiguous },
      ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
      ...(requestID === undefined ? {} : { requestID }),
    },
    cause === undefined ? undefined : { cause },
  );
}

/** Returns the error of a call that the adapter itself refuses before anything is sent. */
export function refusedCall(texts: ProviderTexts, call: CallInfo, reason: string): ProviderError {
  return failedCall(texts, call, { failure: "refused", status: 0, reason });
}

/**
 * Returns the sentence for people about a failed call: what failed, on what, why, what to do. A status stores it. So nothing stands in it that is new in each answer, such
 * as the id of the request.
 */
function failureText({ label, scopeAdvice }: ProviderTexts, call: CallInfo, details: FailureDetails): string {
  const { doing, notFoundAdvice } = call;
  const { failure, status, notBeforeMs, isAmbiguous } = details;
  const why = status === 0 ? details.reason : `${details.reason} (${status})`;
  const doubt = isAmbiguous === true ? "; it may have taken effect all the same" : "";
  const when = notBeforeMs === undefined ? "" : ` ${noCallBefore(notBeforeMs)}`;
  switch (failure) {
    case "unauthorized":
      if (status === 0)
        return `${label} was not asked to ${doing}, for its token cannot be used: ${why.replace(/\.$/, "")}.`;
      return `${label} did not accept the token when asked to ${doing}: ${why}. Check the token and its expiry.`;
    case "forbidden":
      return `${label} does not allow this token to ${doing}: ${why}. ${scopeAdvice(call.scope)}`;
    case "not-found":
      return `${label} refused to ${doing}: ${why}${notFoundAdvice === undefined ? "" : `. ${notFoundAdvice}`}`;
    case "refused":
    case "over-quota":
    case "busy":
      return `${label} refused to ${doing}: ${why}`;
    case "rate-limited":
      return `${label}'s rate limit does not allow to ${doing} now: ${why}.${when}`;
    case "put-off":
      return `${label} is not asked to ${doing} now: ${why}.${when}`;
    case "unavailable":
      return status === 0
        ? `${label} could not be reached to ${doing}: ${why}${doubt}`
        : `${label} failed to ${doing}: ${why}${doubt}`;
    case "timeout":
      return `${label} did not answer in time when asked to ${doing}: ${why}${doubt}`;
    case "malformed":
      return `${label} gave an unusable answer when asked to ${doing}: ${why}${doubt}`;
  }
}

/** What an answer that is no success says. */
export interface ErrorBody {
  /** One line for people, cut to a few hundred characters. */
  readonly text: string;
  /** False when it is not an error of the API at all, but a proxy's page. */
  readonly isFromAPI: boolean;
  /** The API's own codes, if it has any: numbers, or words such as `locked`. */
  readonly codes: readonly (number | string)[];
}

/** Returns what an error answer says. `readFields` gets the fields of the body. It returns undefined if this API writes no error that way. */
export function readErrorBody(
  answer: Answer,
  readFields: (fields: Fields) => Omit<ErrorBody, "isFromAPI"> | undefined,
): ErrorBody {
  const strange = (text: string): ErrorBody => ({ text, isFromAPI: false, codes: [] });
  if (answer.bodyError !== undefined) return strange("the answer broke off");
  try {
    const error = readFields(fieldsOf(jsonOf(answer)));
    return error === undefined ? strange("no error message") : { ...error, isFromAPI: true };
  } catch (fault) {
    return strange(fault instanceof Error ? fault.message : "no usable answer");
  }
}

/** How the answers that are no success are understood. */
export interface ErrorReading extends ProviderTexts {
  /** Never throws: what is no error of the API has a text all the same. */
  readonly errorBodyOf: (answer: Answer) => ErrorBody;
  /** Returns the id under which the provider knows the request; at most 100 characters. */
  readonly requestIDOf: (answer: Answer) => string | undefined;
  /** Returns what such an answer means when it is an error of the API, or has a status that needs no explanation. */
  readonly failureOf: (status: number, body: ErrorBody) => ProviderFailure;
}

/** An answer that is no success: what it says, and the error it becomes unless the call expected it. */
export interface Refusal extends ErrorBody {
  readonly error: ProviderError;
}

/**
 * Returns the refusal in an answer that is not a 2xx, or in a 2xx that says that it is no success. Without an error of the API
 * such a 2xx and a 404 (a proxy's page, a wrong URL) are `malformed`, so that nothing is taken for gone because of them.
 */
export function refusalOf(
  api: ErrorReading,
  call: CallInfo,
  answer: Answer,
  { redact, notBeforeMs }: { readonly redact: (text: string) => string; readonly notBeforeMs: number | undefined },
): Refusal {
  const { status, bodyError } = answer;
  const body = api.errorBodyOf(answer);
  const isUnusable = !body.isFromAPI && (status === 404 || status < 300);
  if (isUnusable && bodyError instanceof ProviderError) return { ...body, error: bodyError };
  const failure = isUnusable ? "malformed" : api.failureOf(status, body);
  const requestID = api.requestIDOf(answer);
  const error = failedCall(api, call, {
    failure,
    status,
    reason: redact(body.text),
    isAmbiguous: call.isWrite && (failure === "unavailable" || (isUnusable && status < 300)),
    requestID: requestID === undefined ? undefined : redact(requestID),
    notBeforeMs,
  });
  return { ...body, error };
}

/** Errors before a byte of the request was on the way: nothing can have taken effect. */
const UNSENT_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** Returns the error of a call whose connection failed or broke before the whole answer was there. */
export function brokenConnection(
  texts: ProviderTexts,
  call: CallInfo,
  error: unknown,
  redact: (text: string) => string,
): ProviderError {
  const { code, message } = connectionFault(error);
  const isUnsent = (error instanceof ProxyFailure && error.isUnsent) || UNSENT_CODES.has(code);
  const reason = redact(message).slice(0, 200);
  const isAmbiguous = call.isWrite && !isUnsent;
  return failedCall(texts, call, { failure: "unavailable", status: 0, reason, isAmbiguous }, error);
}

/** Returns the error of a call that was answered with a redirect: none is followed, and whoever redirects may have passed the request on before. */
export function redirectedCall(texts: ProviderTexts, call: CallInfo): ProviderError {
  const reason = "a redirect, which is not followed; check the API's URL";
  return failedCall(texts, call, { failure: "malformed", status: 0, reason, isAmbiguous: call.isWrite });
}

/**
 * Returns why a request came to no answer: the code of the error, `""` if it has none, and its message. A connection that broke is told in our own words: Node only says `aborted`
 * or `socket hang up`.
 */
export function connectionFault(error: unknown): { readonly code: string; readonly message: string } {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  if (code === "ECONNRESET") return { code, message: "the connection broke before the answer was complete" };
  // Where several addresses of a server were tried, the error of all of them has no message.
  const message = (error instanceof Error ? error.message : "") || code || "the connection failed";
  return { code, message };
}
