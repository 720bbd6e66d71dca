import type { RetryStatus } from "../model/resource.ts";
import type { PoolView } from "./pool-view.ts";
import { retryDueMs } from "./retry-schedule.ts";

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
