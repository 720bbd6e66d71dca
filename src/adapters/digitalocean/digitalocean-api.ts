import type { ProviderFailure } from "../../model/errors.ts";
import type { Answer } from "../provider-http/answer.ts";
import type { Complaint } from "../provider-http/complaint.ts";
import type { ProviderAPI } from "../provider-http/provider-api.ts";
import { complaintOf, requestIDOf } from "./complaint.ts";
import { DIGITALOCEAN_VOICE } from "./digitalocean-voice.ts";
import { exchange } from "./exchange.ts";
import { readRateLimit } from "./rate-limit.ts";
import { loadSDK, type Send } from "./sdk.ts";

/** What is particular to DigitalOcean's API. The decoders get the answer itself: a write is accepted even without a body. */
export const DIGITALOCEAN_API: ProviderAPI<Send, Answer, Complaint> = {
  ...DIGITALOCEAN_VOICE,
  baseURL: "https://api.digitalocean.com",
  limits: {
    mostInFlight: 4,
    allowance: { calls: 250, ms: 60_000, toldLimit: 5000 },
    timeoutMs: 15_000,
    repeatDelayMs: 250,
  },
  open: async (baseURL) => {
    const sdk = await loadSDK(baseURL);
    return (call, terms) => exchange(sdk, call, terms);
  },
  successOf: (answer) => answer,
  complaintOf,
  requestIDOf,
  failureOf,
  readRateLimit,
};

function failureOf(status: number, { text }: Complaint): ProviderFailure {
  if (status === 401) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 404) return "not-found";
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 408) return "unavailable";
  // The API has no code for it, so the text is the only hint: "already has a pending event", "is locked".
  const isBusy = (status === 409 || status === 422) && /pending|in progress|\blocked\b/i.test(text);
  return isBusy ? "busy" : "refused";
}
