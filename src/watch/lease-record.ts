import type { LeaseRecord } from "../ports/cluster.ts";

/** No written duration beyond this is believed: a record edited by hand must not lock everybody out for ever. */
const LONGEST_MS = 3_600_000;
/** `leaseTransitions` is an int32. */
const MOST_TRANSITIONS = 2_147_483_647;

/**
 * How long a record may stay unchanged before it is expired: its `leaseDurationSeconds`, at most an hour, or `ownMs`
 * where it says nothing usable. Milliseconds.
 */
export function leaseDurationMs(record: LeaseRecord, ownMs: number): number {
  const writtenMs = record.durationSeconds * 1000;
  return writtenMs > 0 ? Math.min(writtenMs, Math.max(LONGEST_MS, ownMs)) : ownMs;
}

/** How far `renewTime` is from the server's clock, in either direction: a time in the future is as doubtful as an old one. Milliseconds. */
export function renewalAgeMs(record: LeaseRecord, serverNowMs: number): number {
  return Math.abs(serverNowMs - record.renewTimeMs);
}

/** True while two readings show the same hold without a renewal between them. Annotations do not count: anyone may touch them. */
export function isUnchanged(before: LeaseRecord, after: LeaseRecord): boolean {
  return (
    before.holder === after.holder &&
    Object.is(before.durationSeconds, after.durationSeconds) &&
    Object.is(before.acquireTimeMs, after.acquireTimeMs) &&
    Object.is(before.renewTimeMs, after.renewTimeMs) &&
    Object.is(before.transitions, after.transitions)
  );
}

/** The record of a Lease that nobody has created yet, held by `identity`. */
export function createdRecord(
  lease: Pick<LeaseRecord, "namespace" | "name">,
  hold: { readonly identity: string; readonly durationMs: number; readonly nowMs: number },
): Omit<LeaseRecord, "resourceVersion"> {
  return {
    namespace: lease.namespace,
    name: lease.name,
    holder: hold.identity,
    durationSeconds: Math.ceil(hold.durationMs / 1000),
    acquireTimeMs: hold.nowMs,
    renewTimeMs: hold.nowMs,
    transitions: 0,
    annotations: {},
  };
}

/** The record after `identity` has taken it over; annotations stay. */
export function takenRecord(
  record: LeaseRecord,
  hold: { readonly identity: string; readonly durationMs: number; readonly nowMs: number },
): LeaseRecord {
  const { transitions } = record;
  const isCountable = transitions >= 0 && transitions < MOST_TRANSITIONS;
  return {
    ...record,
    ...createdRecord(record, hold),
    transitions: isCountable ? transitions + 1 : 0,
    annotations: record.annotations,
  };
}

/** The record renewed by its holder, with annotations set (string) or removed (null). Its `renewTime` always differs from the one before. */
export function renewedRecord(
  record: LeaseRecord,
  changes: Readonly<Record<string, string | null>>,
  durationMs: number,
  nowMs: number,
): LeaseRecord {
  const annotations = Object.entries({ ...record.annotations, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return {
    ...record,
    durationSeconds: Math.ceil(durationMs / 1000),
    renewTimeMs: nowMs === record.renewTimeMs ? nowMs + 1 : nowMs,
    annotations: Object.fromEntries(annotations),
  };
}

/** The record given up by its holder: free at once for anyone. The API refuses a duration of 0 (kube-apiserver 1.35.4, verified 2026-08). */
export function releasedRecord(record: LeaseRecord, nowMs: number): LeaseRecord {
  return { ...record, holder: "", durationSeconds: 1, renewTimeMs: nowMs };
}
