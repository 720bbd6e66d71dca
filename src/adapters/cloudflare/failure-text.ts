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
      return `Cloudflare did not accept the token when asked to ${doing}: ${why}. Check the token and its expiry.`;
    case "forbidden":
      return `Cloudflare does not allow this token to ${doing}: ${why}. Give the token the permission ${call.permission} for that zone.`;
    case "not-found":
    case "refused":
    case "busy":
      return `Cloudflare refused to ${doing}: ${why}`;
    case "rate-limited":
      return `Cloudflare's rate limit does not allow to ${doing} now: ${why}.${when}`;
    case "unavailable":
      return details.status === 0
        ? `Cloudflare could not be reached to ${doing}: ${why}${doubt}`
        : `Cloudflare failed to ${doing}: ${why}${doubt}`;
    case "timeout":
      return `Cloudflare did not answer in time when asked to ${doing}: ${why}${doubt}`;
    case "malformed":
      return `Cloudflare gave an unusable answer when asked to ${doing}: ${why}${doubt}`;
  }
}

function answerNote({ status, requestID }: FailureDetails): string {
  if (status === 0) return "";
  return requestID === undefined ? ` (${status})` : ` (${status}, request id ${requestID})`;
}
