import type { Answer } from "../provider-http/answer.ts";
import type { Complaint } from "../provider-http/complaint.ts";
import { createProviderCaller, type ProviderCaller } from "../provider-http/provider-caller.ts";
import { DIGITALOCEAN_API } from "./digitalocean-api.ts";
import type { DigitalOceanOptions } from "./digitalocean-options.ts";
import type { Send } from "./sdk.ts";

/** Makes the calls of one DigitalOcean token. */
export type Caller = ProviderCaller<Send, Answer, Complaint>;

/**
 * Returns a caller; the SDK is loaded by its first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createCaller(options: DigitalOceanOptions): Caller {
  return createProviderCaller(DIGITALOCEAN_API, options);
}
