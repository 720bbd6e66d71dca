import type { AnswerValue } from "../provider-http/answer-value.ts";
import type { ProviderCall } from "../provider-http/provider-call.ts";
import type { CloudflareComplaint } from "./complaint.ts";
import type { Send } from "./sdk.ts";

/** One call to Cloudflare: what to send and how to understand the envelope of a success. */
export type Call<T> = ProviderCall<T, Send, AnswerValue, CloudflareComplaint>;
