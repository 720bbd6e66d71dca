import type { ProviderFailure } from "../../model/errors.ts";
import { formatTime } from "../../model/time.ts";
import type { CallFacts } from "./call-facts.ts";
import type { ProviderVoice } from "./provider-voice.ts";

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
export function failureText({ label, scopeAdvice }: ProviderVoice, call: CallFacts, details: FailureDetails): string {
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
