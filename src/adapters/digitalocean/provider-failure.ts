import type { ProviderError } from "../../model/errors.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import { failedCall } from "../provider-http/failed-call.ts";
import type { FailureDetails } from "../provider-http/failure-text.ts";
import { DIGITALOCEAN_VOICE } from "./digitalocean-voice.ts";

/** The error of a call to DigitalOcean with the given details. */
export function providerError(call: CallFacts, details: FailureDetails, cause?: unknown): ProviderError {
  return failedCall(DIGITALOCEAN_VOICE, call, details, cause);
}
