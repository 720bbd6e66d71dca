import type { RetryStatus } from "../model/resource.ts";
import { aheadText } from "./time-text.ts";

/** Returns `2 failed, next in 5s`, or `-` when nothing is to be tried again. */
export function retryText(retry: RetryStatus | undefined, nowMs: number): string {
  return retry === undefined ? "-" : `${retry.attempts} failed, next ${aheadText(retry.nextAttemptTime, nowMs)}`;
}
