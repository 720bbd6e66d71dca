import { expect, test } from "vitest";
import { retryDueMs } from "../../src/plan/retries.ts";

const NOW_MS = Date.parse("2026-08-01T12:00:00Z");

function dueInSeconds(attempts: number, inSeconds: number): number {
  const nextAttemptTime = new Date(NOW_MS + inSeconds * 1000).toISOString();
  return (retryDueMs({ subject: "node/n1/101", attempts, nextAttemptTime, error: "no" }, NOW_MS) - NOW_MS) / 1000;
}

// A clock that was set back by minutes, an hour or a year makes nothing wait longer than it would after as many attempts.
test.for([
  [1, 1, 1],
  [1, 60, 60],
  [1, 300, 60],
  [2, 300, 300],
  [2, 500, 300],
  [3, 600, 600],
  [3, 601, 0],
  [1, 3601, 0],
  [1, 365 * 86_400, 0],
  [1, -5, -5],
] as const)("after %i attempts what is due in %i s by status is due in %i s", ([attempts, inSeconds, expected]) => {
  expect(dueInSeconds(attempts, inSeconds)).toBe(expected);
});
