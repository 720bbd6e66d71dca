import type { Clock } from "../../ports/clock.ts";

/** How to reach Cloudflare. */
export interface CloudflareOptions {
  /** The API token, or where to get it; asked again for every request, so that a rotated token is used at once. */
  readonly token: string | (() => Promise<string> | string);
  /** With `/client/v4`; by default `https://api.cloudflare.com/client/v4`. */
  readonly baseURL?: string;
  readonly userAgent: string;
  /** Deadline of one call over headers, body and the repeat of a read; by default 15 s. */
  readonly timeoutMs?: number;
  /** By default the machine's own. Deadlines of connections always run by the machine's own. */
  readonly clock?: Clock;
  /** Ends calls in flight and refuses later ones when it is aborted. */
  readonly signal?: AbortSignal;
}
