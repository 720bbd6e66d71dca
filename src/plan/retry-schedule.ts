import type { RetryStatus } from "../model/resource.ts";
import { parseTime } from "../model/time.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Waits after the 1st, 2nd, … failed attempt, milliseconds; the last one repeats. */
const SCHEDULES: Readonly<Record<"fast" | "slow", readonly number[]>> = {
  fast: [1, 1, 5, 5, 10, 10, 10, 60, 60, 60, 60, 60, 300].map((seconds) => seconds * SECOND),
  slow: [1, 5, 10].map((minutes) => minutes * MINUTE),
};

/** The longest wait of any schedule: no stored time may hold anything longer. */
const LONGEST_RETRY_MS = 10 * MINUTE;

/** How long to wait after the given number of failed attempts (from 1), milliseconds. */
export function retryDelayMs(retryClass: "fast" | "slow", attempts: number): number {
  const schedule = SCHEDULES[retryClass];
  return schedule[Math.min(attempts, schedule.length) - 1] ?? LONGEST_RETRY_MS;
}

/** When a stored retry is due, milliseconds; at most the longest wait from now, whatever the clock said when it was stored. */
export function retryDueMs(retry: RetryStatus, nowMs: number): number {
  const dueMs = parseTime(retry.nextAttemptTime) ?? nowMs;
  return dueMs > nowMs + LONGEST_RETRY_MS ? nowMs : dueMs;
}
