import type { ProviderFailure } from "../../model/errors.ts";
import type { CallFacts } from "./call.ts";

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
export function failureText(call: CallFacts, details: FailureDetails): string {
  const { doing } = call;
  const why = `${details.reason}${answerNote(details)}`;
  const doubt = details.isAmbiguous === true ? "; it may have taken effect all the same" : "";
  const when =
    details.notBeforeMs === undefined ? "" : ` No call before ${new Date(details.notBeforeMs).toISOString()}.`;
  switch (details.failure) {
    case "unauthorized":
      return `DigitalOcean did not accept the token when asked to ${doing}: ${why}. Check the token and its expiry.`;
    case "forbidden":
      return `DigitalOcean does not allow this token to ${doing}: ${why}. Give the token the scope ${call.scope}.`;
    case "not-found":
      return `DigitalOcean refused to ${doing}: ${why}${call.notFoundAdvice === undefined ? "" : `. ${call.notFoundAdvice}`}`;
    case "refused":
    case "busy":
      return `DigitalOcean refused to ${doing}: ${why}`;
    case "rate-limited":
      return `DigitalOcean's rate limit does not allow to ${doing} now: ${why}.${when}`;
    case "unavailable":
      return details.status === 0
        ? `DigitalOcean could not be reached to ${doing}: ${why}${doubt}`
        : `DigitalOcean failed to ${doing}: ${why}${doubt}`;
    case "timeout":
      return `DigitalOcean did not answer in time when asked to ${doing}: ${why}${doubt}`;
    case "malformed":
      return `DigitalOcean gave an unusable answer when asked to ${doing}: ${why}${doubt}`;
  }
}

function answerNote({ status, requestID }: FailureDetails): string {
  if (status === 0) return "";
  return requestID === undefined ? ` (${status})` : ` (${status}, request id ${requestID})`;
}
