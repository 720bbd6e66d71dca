import type { ProviderError } from "../../model/errors.ts";
import { isTokenText, UNUSABLE_TOKEN } from "../../model/text.ts";
import type { CallFacts } from "./call-facts.ts";
import { failedCall } from "./failed-call.ts";
import type { ProviderOptions } from "./provider-options.ts";
import type { ProviderVoice } from "./provider-voice.ts";

/**
 * The token for one request, without the line end that files bring along.
 * @throws ProviderError `unauthorized` when it cannot be had or no header could carry it; never shows the token
 */
export async function readToken(
  voice: ProviderVoice,
  call: CallFacts,
  source: ProviderOptions["token"],
): Promise<string> {
  const refused = (reason: string, cause?: unknown): ProviderError =>
    failedCall(voice, call, { failure: "unauthorized", status: 0, reason }, cause);
  let token: string;
  try {
    token = (typeof source === "string" ? source : await source()).trim();
  } catch (error) {
    throw refused(error instanceof Error ? error.message : "it could not be read", error);
  }
  if (token === "") throw refused("it is empty");
  if (!isTokenText(token)) throw refused(`it ${UNUSABLE_TOKEN}`);
  return token;
}
