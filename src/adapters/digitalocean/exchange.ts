import type { Answer } from "../provider-http/answer.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import { type RequestTerms, readAnswer, sendRequest } from "../provider-http/send-request.ts";
import { DIGITALOCEAN_VOICE } from "./digitalocean-voice.ts";
import { providerError } from "./provider-failure.ts";
import type { SDK, Send } from "./sdk.ts";

/**
 * Sends one request through the SDK and returns the answer, whatever its status, with the body read before the deadline.
 * @throws ProviderError `unavailable` or `timeout` when there was no answer
 */
export async function exchange(
  sdk: SDK,
  call: CallFacts & { readonly send: Send },
  terms: RequestTerms,
): Promise<Answer> {
  const { token, userAgent } = terms;
  let isSent = false;
  const response = await sdk(call.send, {
    headers: { Authorization: `Bearer ${token}`, "User-Agent": userAgent },
    fetch: async (url, init) => {
      // The SDK answers a 401 with a claims challenge by sending the request again.
      if (isSent) throw providerError(call, { failure: "unauthorized", status: 401, reason: "it was challenged" });
      isSent = true;
      return await sendRequest(DIGITALOCEAN_VOICE, call, terms, { ...init, url });
    },
  });
  return await readAnswer(DIGITALOCEAN_VOICE, call, terms, response);
}
