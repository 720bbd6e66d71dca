import type { ProviderOptions } from "../provider-http/provider-options.ts";

/** How to reach DigitalOcean. */
export interface DigitalOceanOptions extends ProviderOptions {
  /** Without `/v2`; by default `https://api.digitalocean.com`. */
  readonly baseURL?: string;
  /** Deadline of one call over headers, body and the repeat of a read; by default 15 s. */
  readonly timeoutMs?: number;
}
