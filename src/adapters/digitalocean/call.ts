import type { Answer } from "../provider-http/answer.ts";
import type { Complaint } from "../provider-http/complaint.ts";
import type { ProviderCall } from "../provider-http/provider-call.ts";
import type { Send } from "./sdk.ts";

/** One call to DigitalOcean: what to send and how to understand a 2xx answer. */
export type Call<T> = ProviderCall<T, Send, Answer, Complaint>;
