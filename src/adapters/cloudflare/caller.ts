import type { AnswerValue } from "../provider-http/answer-value.ts";
import { createProviderCaller, type ProviderCaller } from "../provider-http/provider-caller.ts";
import { CLOUDFLARE_API } from "./cloudflare-api.ts";
import type { CloudflareOptions } from "./cloudflare-options.ts";
import type { CloudflareComplaint } from "./complaint.ts";
import type { Send } from "./sdk.ts";

/** Makes the calls of one Cloudflare token. */
export type Caller = ProviderCaller<Send, AnswerValue, CloudflareComplaint>;

/**
 * Returns a caller; the SDK is loaded by its first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createCaller(options: CloudflareOptions): Caller {
  return createProviderCaller(CLOUDFLARE_API, options);
}
