import type { Call } from "./call.ts";

const MAX_REPEATS = 3;
const FIRST_WAIT_MS = 200;
const MAX_RETRY_AFTER_MS = 10_000;
const STATUSES: readonly number[] = [429, 500, 502, 503, 504];
const CODES: readonly string[] = ["ECONNRESET", "EPIPE", "ECONNREFUSED"];

/** How a try ended: with a status that is no success, or without an answer. */
export type TryEnd = { readonly status: number; readonly retryAfter: string | undefined } | { readonly code: string };

/**
 * How long to wait before the same call may be sent again, in milliseconds; undefined when it must not be: a POST is not
 * idempotent, other failures do not pass by themselves, and three repeats are enough.
 * @param repeats how often this call has been repeated.
 * @param random from 0 to 1: clients that failed together do not come back together.
 */
export function repeatDelayMs(
  method: Call["method"],
  end: TryEnd,
  repeats: number,
  random: number,
): number | undefined {
  if (method === "POST" || repeats >= MAX_REPEATS) return undefined;
  const isPassing = "code" in end ? CODES.includes(end.code) : STATUSES.includes(end.status);
  if (!isPassing) return undefined;
  const backoffMs = FIRST_WAIT_MS * 2 ** repeats * (0.5 + random / 2);
  const asked = "code" in end ? undefined : retryAfterMs(end.retryAfter);
  return asked === undefined ? backoffMs : Math.min(asked, MAX_RETRY_AFTER_MS) + (random * FIRST_WAIT_MS) / 2;
}

/** `Retry-After` in seconds, the form Kubernetes sends; undefined for a date or nothing. */
function retryAfterMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header.trim()) ? Number(header) * 1000 : undefined;
}
