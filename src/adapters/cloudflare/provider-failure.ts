import type { ProviderError } from "../../model/errors.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import { failedCall } from "../provider-http/failed-call.ts";
import type { FailureDetails } from "../provider-http/failure-text.ts";
import { CLOUDFLARE_VOICE } from "./cloudflare-voice.ts";

/** The error of a call to Cloudflare with the given details. */
export function providerError(call: CallFacts, details: FailureDetails): ProviderError {
  return failedCall(CLOUDFLARE_VOICE, call, details);
}
