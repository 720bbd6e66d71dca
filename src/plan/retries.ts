import { ProviderError, type ProviderFailure, type Refusal } from "../model/errors.ts";
import type { Hold, Plan } from "../model/plan.ts";
import type { RetryStatus } from "../model/resource.ts";
import type { Outcome } from "../model/run.ts";
import { plain } from "../model/text.ts";
import { parseTime, timestamp } from "../model/time.ts";
import { WAITS, waitMs } from "../model/waits.ts";
import type { PoolView } from "./addresses/pool-view.ts";

/** The longest wait of any schedule: no stored time may hold anything longer. */
const LONGEST_RETRY_MS = Math.max(...WAITS.fastRetry.ms, ...WAITS.slowRetry.ms);

/** How long to wait after the given number of failed attempts (from 1), milliseconds. */
export function retryDelayMs(retryClass: "fast" | "slow", attempts: number): number {
  return waitMs(retryClass === "fast" ? WAITS.fastRetry : WAITS.slowRetry, attempts - 1);
}

/** When a stored retry is due, milliseconds; at most the longest wait from now, whatever the clock said when it was stored. */
export function retryDueMs(retry: RetryStatus, nowMs: number): number {
  const dueMs = parseTime(retry.nextAttemptTime) ?? nowMs;
  return dueMs > nowMs + LONGEST_RETRY_MS ? nowMs : dueMs;
}

/** The stored retry of a subject, `ip/ADDRESS`, `node/NAME`, `acquire` or `annotate`. */
export function retryOf(view: PoolView, subject: string): RetryStatus | undefined {
  return view.pool.status.retries.find((retry) => retry.subject === subject);
}

/**
 * The place of a subject in the order of trying: 0 when its last attempt did not fail, else when that may be repeated, milliseconds. What failed goes behind what
 * did not, and the longest due first, so that one that fails for ever takes nobody's turn.
 */
export function turnOf(view: PoolView, subject: string, nowMs: number): number {
  const retry = retryOf(view, subject);
  return retry === undefined ? 0 : retryDueMs(retry, nowMs);
}

/** True when the last attempt of both was the same one, and failed. */
export function failedTogether(view: PoolView, ip: string, nodeName: string): boolean {
  const address = retryOf(view, `ip/${ip}`);
  return address !== undefined && address.error === retryOf(view, `node/${nodeName}`)?.error;
}

/**
 * When an address and a node may be tried together, milliseconds; now or earlier = at once. Both must be due, unless only one of them has failed, once, and the
 * other never did: after one failure a fresh partner is tried at once, to find out which of the two is to blame; then each waits for its own time.
 */
export function dueMs(view: PoolView, ip: string, nodeName: string, nowMs: number): number {
  const address = retryOf(view, `ip/${ip}`);
  const node = retryOf(view, `node/${nodeName}`);
  if (address !== undefined && node === undefined && address.attempts === 1) return nowMs;
  if (node !== undefined && address === undefined && node.attempts === 1 && isShared(view, node)) return nowMs;
  return Math.max(...[address, node].map((retry) => (retry === undefined ? nowMs : retryDueMs(retry, nowMs))));
}

/** What went wrong last, of the address or else of one of the nodes; `""` when nothing did. */
export function lastError(view: PoolView, ip: string, nodeNames: readonly string[]): string {
  const subjects = [`ip/${ip}`, ...nodeNames.map((name) => `node/${name}`)];
  return subjects.flatMap((subject) => retryOf(view, subject)?.error ?? [])[0] ?? "";
}

/** When an address that must leave its machine, or the account, may be tried again, milliseconds; now or earlier = at once. */
export function leavingDueMs(view: PoolView, ip: string, nowMs: number): number {
  const retry = retryOf(view, `ip/${ip}`);
  return retry === undefined ? nowMs : retryDueMs(retry, nowMs);
}

/** True when the failure of a node is one of an address too: either of them may be to blame. */
function isShared({ pool }: PoolView, node: RetryStatus): boolean {
  return pool.status.retries.some(({ subject, error }) => subject.startsWith("ip/") && error === node.error);
}

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

/** What only a person, or somebody else's change, can mend. */
const SLOW: ReadonlySet<ProviderFailure> = new Set(["unauthorized", "forbidden", "refused", "not-found"]);

/** How a failed attempt is retried: rarely where the provider refused it, else soon. Calls to the cluster are cheap and fail for its own reasons: soon. */
export function retryClassOf(error: Error): "fast" | "slow" {
  return error instanceof ProviderError && SLOW.has(error.failure) ? "slow" : "fast";
}

/** Why a provider may not be asked any more after these outcomes: it asked for no calls for a while; undefined when it did not. Pure. */
export function rateLimitIn(outcomes: readonly Outcome[], skewMs: number): Refusal | undefined {
  const limited = outcomes
    .flatMap((outcome) => (outcome.outcome === "failed" ? [outcome.error] : []))
    .find((error) => error instanceof ProviderError && error.failure === "rate-limited");
  if (!(limited instanceof ProviderError)) return undefined;
  const { message, notBeforeMs } = limited;
  const until = notBeforeMs === undefined ? {} : { notBeforeMs: notBeforeMs + skewMs };
  return { kind: "rate-limited", message, ...until };
}

/** When a plan should be made again although nothing outside has changed. */
export interface NextLook {
  /** From now, milliseconds; 0 when it is due. */
  readonly inMs: number;
  /** What is waited for; absent when it is something left over that has no time of its own. */
  readonly hold?: Hold;
}

/** Waits that a plan does not know. */
interface LookWaits {
  /** After a pass that leaves actions, milliseconds. */
  readonly leftOverMs: number;
  /** Until something that is moving or could not be read may be read again, milliseconds; undefined when there is nothing of that kind. */
  readonly nextReadInMs: number | undefined;
}

/**
 * When another pass can change something: the first end of a hold, the first time at which nodes are judged otherwise, the next reading of what is moving or could
 * not be read, or the wait for actions that are left. Undefined when only a change from outside can. Pure.
 */
export function nextLook(plan: Plan, nowMs: number, { leftOverMs, nextReadInMs }: LookWaits): NextLook | undefined {
  const { holds, actions, observedAtMs, judgedUntilMs } = plan;
  const looks = holds.flatMap((hold): readonly NextLook[] => {
    const { notBeforeMs } = hold;
    // A time that was over when the plan was made ended nothing: only a reading can.
    if (notBeforeMs !== undefined && notBeforeMs > observedAtMs)
      return [{ inMs: Math.max(0, notBeforeMs - nowMs), hold }];
    const isAwaited = notBeforeMs !== undefined || isInProgress(hold);
    return isAwaited && nextReadInMs !== undefined ? [{ inMs: nextReadInMs, hold }] : [];
  });
  // Nodes are judged as of when they were read: what ended since then is due.
  const judged = judgedUntilMs === undefined ? [] : [{ inMs: Math.max(0, judgedUntilMs - nowMs) }];
  const readings = nextReadInMs === undefined ? [] : [{ inMs: nextReadInMs }];
  const left = actions.length > 0 ? [{ inMs: leftOverMs }] : [];
  return [...looks, ...judged, ...readings, ...left].toSorted((a, b) => a.inMs - b.inMs)[0];
}

function isInProgress({ reason }: Hold): boolean {
  return reason === "InProgress" || reason === "AcquisitionUnanswered";
}
