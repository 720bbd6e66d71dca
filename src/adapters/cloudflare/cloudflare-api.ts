import { type Answer, jsonOf } from "../provider-http/answer.ts";
import type { AnswerValue } from "../provider-http/answer-value.ts";
import type { ProviderAPI } from "../provider-http/provider-api.ts";
import { CLOUDFLARE_VOICE } from "./cloudflare-voice.ts";
import { type CloudflareComplaint, complaintOf, requestIDOf } from "./complaint.ts";
import { exchange } from "./exchange.ts";
import { failureOfCodes } from "./failure-of-codes.ts";
import { readRateLimit } from "./rate-limit.ts";
import { loadSDK, type Send } from "./sdk.ts";

/** What is particular to Cloudflare's API. The decoders get the envelope, `success` already checked. */
export const CLOUDFLARE_API: ProviderAPI<Send, AnswerValue, CloudflareComplaint> = {
  ...CLOUDFLARE_VOICE,
  baseURL: "https://api.cloudflare.com/client/v4",
  limits: {
    mostInFlight: 4,
    allowance: { calls: 1200, ms: 300_000, toldLimit: 1200 },
    timeoutMs: 15_000,
    repeatDelayMs: 250,
  },
  open: async (baseURL) => {
    const sdk = await loadSDK(baseURL);
    return (call, terms) => exchange(sdk, call, terms);
  },
  successOf,
  complaintOf,
  requestIDOf,
  failureOf: failureOfCodes,
  readRateLimit,
};

/** Only a 2xx whose envelope says `success: true` is a success. */
function successOf(answer: Answer): AnswerValue | undefined {
  const envelope = jsonOf(answer);
  const success = envelope.at("success");
  if (success.raw === true) return envelope;
  if (success.raw !== false) throw success.fault("true or false");
  return undefined;
}
