import type { RetryStatus } from "../model/resource.ts";
import { plain } from "../model/text.ts";
import { timestamp } from "../model/time.ts";
import { retryDelayMs } from "./retry-schedule.ts";

/** The retries with one more failed attempt of a subject. Sorted by subject. Pure. */
export function withRetry(
  retries: readonly RetryStatus[],
  { subject, retryClass, error }: Pick<RetryStatus, "subject" | "error"> & { readonly retryClass: "fast" | "slow" },
  nowMs: number,
): readonly RetryStatus[] {
  const attempts = (retries.find((entry) => entry.subject === subject)?.attempts ?? 0) + 1;
  const nextAttemptTime = timestamp(nowMs + retryDelayMs(retryClass, attempts));
  const others = retries.filter((other) => other.subject !== subject);
  return [...others, { subject, attempts, nextAttemptTime, error: plain(error) }].toSorted((a, b) =>
    a.subject < b.subject ? -1 : 1,
  );
}

/** The retries without those of the subjects; the same list when there are none. Pure. */
export function withoutRetries(retries: readonly RetryStatus[], subjects: readonly string[]): readonly RetryStatus[] {
  return retries.some(({ subject }) => subjects.includes(subject))
    ? retries.filter(({ subject }) => !subjects.includes(subject))
    : retries;
}
