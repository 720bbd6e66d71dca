import { ProviderError } from "../../model/errors.ts";
import type { CallFacts } from "./call-facts.ts";
import { type FailureDetails, failureText } from "./failure-text.ts";
import type { ProviderVoice } from "./provider-voice.ts";

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
