import { KubeError, type KubeFailure } from "../model/errors.ts";
import type { ClusterWriter, LeaseRecord } from "../ports/cluster.ts";
import { type Clock, within } from "../ports/system.ts";

/** The methods the lock needs of a cluster. */
export type LeaseStore = Pick<ClusterWriter, "now" | "readLease" | "createLease" | "replaceLease">;

/** No written duration beyond this is believed: a record edited by hand must not lock everybody out for ever. */
const LONGEST_MS = 3_600_000;
/** `leaseTransitions` is an int32. */
const MOST_TRANSITIONS = 2_147_483_647;

/**
 * Returns how long a record may stay unchanged before it is expired: its `leaseDurationSeconds`, at most an hour, or `ownMs`
 * where it says nothing usable. Milliseconds.
 */
export function leaseDurationMs(record: LeaseRecord, ownMs: number): number {
  const writtenMs = record.durationSeconds * 1000;
  return writtenMs > 0 ? Math.min(writtenMs, Math.max(LONGEST_MS, ownMs)) : ownMs;
}

/** Returns how far `renewTime` is from the server's clock, in either direction: a time in the future is as doubtful as an old one. Milliseconds. */
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

/** The holder of a Lease from now on, and how long it lasts without a renewal. */
interface Hold {
  readonly identity: string;
  readonly durationMs: number;
  /** By the API server's clock. */
  readonly nowMs: number;
}

/** Returns the record of a Lease that nobody has created yet, held by `identity`. */
export function createdRecord(
  lease: Pick<LeaseRecord, "namespace" | "name">,
  hold: Hold,
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

/** Returns the record after `identity` has taken it over; annotations stay. */
export function takenRecord(record: LeaseRecord, hold: Hold): LeaseRecord {
  const { transitions } = record;
  const isCountable = transitions >= 0 && transitions < MOST_TRANSITIONS;
  return {
    ...record,
    ...createdRecord(record, hold),
    transitions: isCountable ? transitions + 1 : 0,
    annotations: record.annotations,
  };
}

/** Returns the record renewed by its holder, with annotations set (string) or removed (null). Its `renewTime` always differs from the one before. */
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

/** Returns the record given up by its holder: free at once for anyone. The API refuses a duration of 0 (kube-apiserver 1.35.4, verified 2026-08). */
export function releasedRecord(record: LeaseRecord, nowMs: number): LeaseRecord {
  return { ...record, holder: "", durationSeconds: 1, renewTimeMs: nowMs };
}

/** Failures that say nothing about the Lease itself: the call may have taken effect, and may succeed when repeated. */
const TRANSIENT: ReadonlySet<KubeFailure> = new Set(["rate-limited", "unavailable", "timeout", "malformed"]);
/** Failures that last until somebody changes a rule, a token or a webhook. */
const REFUSALS: ReadonlySet<KubeFailure> = new Set(["forbidden", "unauthorized", "denied"]);
/** Failures that say the record was changed, created or deleted by someone since it was read. */
const OVERTAKEN: ReadonlySet<KubeFailure> = new Set(["conflict", "already-exists", "not-found"]);

/** True when the same call may succeed a moment later, or has succeeded and only its answer was lost. */
export function isTransient(error: unknown): boolean {
  return error instanceof KubeError && TRANSIENT.has(error.failure);
}

/** True when the API server refuses the call. Right after its start a server may refuse what it allows a moment later: it has not read its rules yet. */
export function isRefusal(error: unknown): boolean {
  return error instanceof KubeError && REFUSALS.has(error.failure);
}

/** True when the Lease must be read again because somebody else wrote it, or an earlier write of ours did arrive. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof KubeError && OVERTAKEN.has(error.failure);
}

/** Returns how long one call may take: half the renew deadline, so that one lost call does not lose the Lease. Milliseconds. */
export function callLimitMs({ renewDeadlineMs }: { readonly renewDeadlineMs: number }): number {
  return renewDeadlineMs / 2;
}

/**
 * Returns the answer of one call about the Lease. Gives the call up after `limitMs` or when the signal is aborted; it may still take effect.
 * `isRestOfRun`: `limitMs` is what `--timeout` has left, and the error says so.
 * @throws KubeError `timeout` when it was given up; else what the call throws.
 */
export async function leaseCall<T>(
  limits: {
    readonly clock: Clock;
    readonly limitMs: number;
    readonly signal?: AbortSignal;
    readonly isRestOfRun?: boolean;
  },
  lease: { readonly verb: string; readonly namespace: string; readonly name: string },
  call: () => Promise<T>,
): Promise<T> {
  const { clock, limitMs, signal, isRestOfRun = false } = limits;
  const answer = await within(clock, limitMs, call(), signal);
  if (answer !== "late") return answer;
  const subject = `${lease.namespace}/${lease.name}`;
  const why = isRestOfRun
    ? "the run had no time left for it. Give it more with --timeout, or check the connection to the API server."
    : `no answer within ${Math.ceil(limitMs)} ms. Check the connection to the API server.`;
  throw new KubeError({
    failure: "timeout",
    operation: `${lease.verb} leases.coordination.k8s.io`,
    subject,
    status: 0,
    message: `Could not ${lease.verb} Lease ${subject}: ${why}`,
  });
}

/**
 * `ms` lengthened by up to a fifth, so that contenders drift apart. Pure: the same identity and round give the same
 * length, different identities different ones.
 */
export function jittered(ms: number, identity: string, round: number): number {
  let hash = 0x811c9dc5;
  for (const char of `${identity}/${round}`) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return ms * (1 + (hash % 1000) / 5000);
}
