import { ProviderError, type ProviderFailure } from "../../model/errors.ts";
import { formatTime } from "../../model/time.ts";
import type { Answer } from "./answer.ts";
import type { CallFacts, RefusalReading } from "./provider-caller.ts";

/** The error of a call with the given details; its text is made here. */
export function failedCall(
  voice: ProviderVoice,
  call: CallFacts,
  details: FailureDetails,
  cause?: unknown,
): ProviderError {
  const { failure, status, requestID, notBeforeMs } = details;
  return new ProviderError(
    {
      provider: voice.provider,
      failure,
      operation: call.operation,
      subject: call.subject,
      status,
      message: failureText(voice, call, details),
      isAmbiguous: details.isAmbiguous ?? false,
      ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
      ...(requestID === undefined ? {} : { requestID }),
    },
    cause === undefined ? undefined : { cause },
  );
}

/** What is known about a failed call, for its text. */
export interface FailureDetails {
  readonly failure: ProviderFailure;
  /** 0 when there was no answer. */
  readonly status: number;
  /** The server's words, or what went wrong on the way. */
  readonly reason: string;
  readonly requestID?: string;
  /** Local milliseconds before which no further call may be made. */
  readonly notBeforeMs?: number;
  readonly isAmbiguous?: boolean;
}

/** The sentence for people about a failed call: what failed, on what, why, what to do. Pure. */
function failureText({ label, scopeAdvice }: ProviderVoice, call: CallFacts, details: FailureDetails): string {
  const { doing, notFoundAdvice } = call;
  const why = `${details.reason}${answerNote(details)}`;
  const doubt = details.isAmbiguous === true ? "; it may have taken effect all the same" : "";
  const when = details.notBeforeMs === undefined ? "" : ` No call before ${formatTime(details.notBeforeMs)}.`;
  switch (details.failure) {
    case "unauthorized":
      if (details.status === 0)
        return `${label} was not asked to ${doing}, for its token cannot be used: ${why.replace(/\.$/, "")}.`;
      return `${label} did not accept the token when asked to ${doing}: ${why}. Check the token and its expiry.`;
    case "forbidden":
      return `${label} does not allow this token to ${doing}: ${why}. ${scopeAdvice(call.scope)}`;
    case "not-found":
      return `${label} refused to ${doing}: ${why}${notFoundAdvice === undefined ? "" : `. ${notFoundAdvice}`}`;
    case "refused":
    case "busy":
      return `${label} refused to ${doing}: ${why}`;
    case "rate-limited":
      return `${label}'s rate limit does not allow to ${doing} now: ${why}.${when}`;
    case "put-off":
      return `${label} is not asked to ${doing} now: ${why}.${when}`;
    case "unavailable":
      return details.status === 0
        ? `${label} could not be reached to ${doing}: ${why}${doubt}`
        : `${label} failed to ${doing}: ${why}${doubt}`;
    case "timeout":
      return `${label} did not answer in time when asked to ${doing}: ${why}${doubt}`;
    case "malformed":
      return `${label} gave an unusable answer when asked to ${doing}: ${why}${doubt}`;
  }
}

function answerNote({ status, requestID }: FailureDetails): string {
  if (status === 0) return "";
  return requestID === undefined ? ` (${status})` : ` (${status}, request id ${requestID})`;
}

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

/** What an answer that is no success says. */
export interface Complaint {
  /** One line for people, cut to a few hundred characters. */
  readonly text: string;
  /** False when it is not an error of the API at all (a proxy's page). */
  readonly hasModel: boolean;
}

/** How errors speak about one provider. */
export interface ProviderVoice {
  /** As in ProviderError: `digitalocean`. */
  readonly provider: string;
  /** For people: `DigitalOcean`. */
  readonly label: string;
  /** What to do about a token that lacks this scope: one sentence. */
  readonly scopeAdvice: (scope: string) => string;
}
