import type { ProviderOptions } from "../provider-http/provider-options.ts";

/** How to reach Cloudflare. */
export interface CloudflareOptions extends ProviderOptions {
  /** With `/client/v4`; by default `https://api.cloudflare.com/client/v4`. */
  readonly baseURL?: string;
  /** Deadline of one call over headers, body and the repeat of a read; by default 15 s. */
  readonly timeoutMs?: number;
}
