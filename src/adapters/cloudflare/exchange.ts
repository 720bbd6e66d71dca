import { InternalError } from "../../model/errors.ts";
import type { Answer } from "../provider-http/answer.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import { type RequestTerms, readAnswer, sendRequest } from "../provider-http/send-request.ts";
import { CLOUDFLARE_VOICE } from "./cloudflare-voice.ts";
import type { SDK, SDKRequest, Send } from "./sdk.ts";

/**
 * Sends the one request that the SDK makes of a call and returns the answer, whatever its status, with the body read before the
 * deadline.
 * @throws ProviderError `unavailable` or `timeout` when there was no answer
 */
export async function exchange(
  sdk: SDK,
  call: CallFacts & { readonly send: Send },
  terms: RequestTerms,
): Promise<Answer> {
  let outcome: { readonly answer: Answer } | { readonly error: unknown } | undefined;
  await sdk(call.send, async (request) => {
    if (outcome !== undefined) throw new InternalError(`The call ${call.operation} sends more than one request.`);
    // Kept here, because the SDK wraps what its fetch throws.
    outcome = await transport(call, terms, request).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    );
  });
  if (outcome === undefined) throw new InternalError(`The call ${call.operation} sends no request.`);
  if ("error" in outcome) throw outcome.error;
  return outcome.answer;
}

async function transport(call: CallFacts, terms: RequestTerms, { method, url, body }: SDKRequest): Promise<Answer> {
  const { token, userAgent } = terms;
  const headers = {
    Accept: "application/json",
    Authorization: `Bearer ${token}`,
    "User-Agent": userAgent,
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  };
  const request = { url, method, headers, ...(body === undefined ? {} : { body }) };
  const response = await sendRequest(CLOUDFLARE_VOICE, call, terms, request);
  return await readAnswer(CLOUDFLARE_VOICE, call, terms, response);
}
