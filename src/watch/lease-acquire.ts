import { ConfigError, KubeError, type KubeFailure } from "../model/errors.ts";
import type { ClusterWriter, LeaseRecord } from "../ports/cluster.ts";
import type { Clock } from "../ports/system.ts";

/** A Lease just taken: the record as stored, and the monotonic time before the call that stored it. */
export interface TakenLease {
  readonly kind: "taken";
  readonly record: LeaseRecord;
  readonly renewedAtMs: number;
}

/** A Lease that stayed with someone else; `holder` is `""` when that is not known. */
interface LockedLease {
  readonly kind: "locked";
  readonly holder: string;
}

type Step = TakenLease | LockedLease | { readonly kind: "again"; readonly afterMs: number };

/**
 * Takes the Lease, or says who keeps it.
 *
 * A record is expired when it has not changed for its duration by the local monotonic clock. Nobody's wall clock decides
 * that; the server's clock decides only whether `fail` and `skip` bother to watch. One exception: when the deadline comes
 * before the watch could end (a very long duration, short runs), a record that stood still for our own duration and that
 * by the server's clock was renewed longer ago than both durations together is taken too, else short runs never would.
 *
 * @throws ConfigError `invalid` when the namespace does not exist; KubeError when the API refuses, or stays away.
 */
export function acquireLease(options: LeaseOptions): Promise<TakenLease | LockedLease> {
  return new Contender(options).compete();
}

class Contender {
  private readonly options: LeaseOptions;
  /** The record others hold, and since when it has stood still before our eyes. */
  private sighting: { readonly record: LeaseRecord; readonly sinceMs: number } | undefined;
  /** `acquireTime` of every take we sent: a record with one of them is ours although its answer was lost. */
  private readonly sent = new Set<number>();
  private failure: { readonly error: unknown; readonly sinceMs: number } | undefined;
  private round = 0;
  private overtaken = 0;

  constructor(options: LeaseOptions) {
    this.options = options;
  }

  async compete(): Promise<TakenLease | LockedLease> {
    const { clock, deadline, signal } = this.options;
    while (!signal.aborted) {
      const step = await this.attempt();
      if (step.kind !== "again") return step;
      await clock.sleep(Math.min(step.afterMs, deadline - clock.monotonicMs()), signal);
      if (clock.monotonicMs() >= deadline) break;
    }
    if (this.failure !== undefined && !signal.aborted) throw this.failure.error;
    return this.locked();
  }

  private async attempt(): Promise<Step> {
    const { cluster, namespace, name, onLocked } = this.options;
    let record: LeaseRecord | undefined;
    try {
      record = await this.call("get", () => cluster.readLease(namespace, name));
    } catch (error) {
      // Reads are repeated by the adapter already: someone who does not want to wait is told now.
      if (onLocked !== "wait" && !this.options.signal.aborted && this.failure === undefined) throw error;
      return this.survive(error);
    }
    if (record === undefined) return this.create();
    return this.isFree(record) ? this.take(record) : this.watch(record);
  }

  private isFree(record: LeaseRecord): boolean {
    return record.holder === "" || (record.holder === this.options.identity && this.sent.has(record.acquireTimeMs));
  }

  private watch(record: LeaseRecord): Step | Promise<Step> {
    const { cluster, clock, onLocked, durationMs } = this.options;
    const nowMs = clock.monotonicMs();
    const seen = this.sighting;
    this.failure = undefined;
    if (seen === undefined || !isUnchanged(seen.record, record)) {
      this.sighting = { record, sinceMs: nowMs };
      const isAlive = seen !== undefined || renewalAgeMs(record, cluster.now()) < leaseDurationMs(record, durationMs);
      if (isAlive && onLocked !== "wait") return this.locked();
    }
    const leftMs = this.leftMs(record, nowMs);
    if (leftMs <= 0) return this.take(record);
    return { kind: "again", afterMs: Math.min(this.pauseMs(this.options.lookMs ?? this.options.retryMs), leftMs) };
  }

  /** How much longer the record must stand still before it may be taken. */
  private leftMs(record: LeaseRecord, nowMs: number): number {
    const { cluster, deadline, durationMs: ownMs } = this.options;
    const sinceMs = this.sighting?.sinceMs ?? nowMs;
    const durationMs = leaseDurationMs(record, ownMs);
    const isLongDead = renewalAgeMs(record, cluster.now()) >= durationMs + ownMs;
    const isTooLong = sinceMs + durationMs > deadline;
    return sinceMs + (isLongDead && isTooLong ? Math.min(ownMs, durationMs) : durationMs) - nowMs;
  }

  private create(): Promise<Step> {
    const { cluster } = this.options;
    const lease = createdRecord(this.options, this.hold());
    return this.write(lease.acquireTimeMs, "create", async () => {
      try {
        return await cluster.createLease(lease);
      } catch (error) {
        throw error instanceof KubeError && error.failure === "not-found" ? noNamespace(this.options, error) : error;
      }
    });
  }

  private take(record: LeaseRecord): Promise<Step> {
    const taken = takenRecord(record, this.hold());
    return this.write(taken.acquireTimeMs, "update", () => this.options.cluster.replaceLease(taken));
  }

  private async write(acquireTimeMs: number, verb: string, call: () => Promise<LeaseRecord>): Promise<Step> {
    const renewedAtMs = this.options.clock.monotonicMs();
    this.sent.add(acquireTimeMs);
    try {
      return { kind: "taken", record: await this.call(verb, call), renewedAtMs };
    } catch (error) {
      if (!isOvertaken(error)) return this.survive(error);
      this.failure = undefined;
      this.overtaken += 1;
      return { kind: "again", afterMs: this.overtaken === 1 ? 0 : this.retryMs() };
    }
  }

  private survive(error: unknown): Step {
    const { clock, onLocked, renewDeadlineMs } = this.options;
    if (!isTransient(error)) throw error;
    const sinceMs = this.failure?.sinceMs ?? clock.monotonicMs();
    this.failure = { error, sinceMs };
    if (onLocked !== "wait" && clock.monotonicMs() - sinceMs >= renewDeadlineMs) throw error;
    return { kind: "again", afterMs: this.retryMs() };
  }

  private call<T>(verb: string, call: () => Promise<T>): Promise<T> {
    const { clock, deadline, namespace, name, signal } = this.options;
    const limitMs = Math.max(1, Math.min(callLimitMs(this.options), deadline - clock.monotonicMs()));
    // A write in flight is waited for: given up, it could leave the Lease taken by a process that has ended.
    const limits = verb === "get" ? { clock, limitMs, signal } : { clock, limitMs };
    return leaseCall(limits, { verb, namespace, name }, call);
  }

  private hold(): { identity: string; durationMs: number; nowMs: number } {
    return {
      identity: this.options.identity,
      durationMs: this.options.durationMs,
      nowMs: this.options.cluster.now(),
    };
  }

  private retryMs(): number {
    return this.pauseMs(this.options.retryMs);
  }

  private pauseMs(ms: number): number {
    this.round += 1;
    return jittered(ms, this.options.identity, this.round);
  }

  private locked(): LockedLease {
    return { kind: "locked", holder: this.sighting?.record.holder ?? "" };
  }
}

function noNamespace(options: LeaseOptions, cause: KubeError): ConfigError {
  const { namespace, name } = options;
  return new ConfigError(
    "invalid",
    `Could not create Lease ${namespace}/${name}: namespace "${namespace}" does not exist. ` +
      `Run "kubectl create namespace ${namespace}", or name another one with --lease-namespace.`,
    { cause },
  );
}

/** The methods the lock needs of a cluster. */
export type LeaseStore = Pick<ClusterWriter, "now" | "readLease" | "createLease" | "replaceLease">;

/** Which Lease to hold, as whom, for how long, and what to do while someone else holds it. */
export interface LeaseOptions {
  readonly cluster: LeaseStore;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** Names this process, uniquely; shown to others as the holder. */
  readonly identity: string;
  /** After this long without a renewal others may take the Lease; whole seconds on the wire, rounded up. */
  readonly durationMs: number;
  /** After this long without a successful renewal the holder gives up by itself. */
  readonly renewDeadlineMs: number;
  /** Time between two renewals, and between two looks at a Lease held by someone else; lengthened by up to a fifth. */
  readonly retryMs: number;
  /** Time between two looks at a Lease held by someone else, when that is less than {@link retryMs}; lengthened as that. */
  readonly lookMs?: number;
  /** `fail` and `skip` differ for the caller only: both end as soon as the holder is seen to be alive. */
  readonly onLocked: "fail" | "skip" | "wait";
  /** When waiting ends, in {@link Clock.monotonicMs}. It does not bound the work. */
  readonly deadline: number;
  /** Ends waiting; work that has begun is not interrupted by it. */
  readonly signal: AbortSignal;
}

/** How long one call may take: half the renew deadline, so that one lost call does not lose the Lease. Milliseconds. */
export function callLimitMs(options: LeaseOptions): number {
  return options.renewDeadlineMs / 2;
}

/**
 * Checks the three periods against each other, as client-go does.
 * @throws ConfigError `usage` naming the two flags that do not fit.
 */
export function checkLeaseOptions(options: LeaseOptions): void {
  const { durationMs, renewDeadlineMs, retryMs, identity } = options;
  if (!(durationMs >= 1000)) throw unfit("--lease-duration", durationMs, "must be at least 1s");
  if (!(renewDeadlineMs < durationMs)) {
    throw unfit("--renew-deadline", renewDeadlineMs, `must be shorter than --lease-duration (${durationMs} ms)`);
  }
  if (!(retryMs > 0 && retryMs * 1.2 < renewDeadlineMs)) {
    throw unfit(
      "--retry-period",
      retryMs,
      `must be above 0 and 1.2 times it below --renew-deadline (${renewDeadlineMs} ms)`,
    );
  }
  if (identity === "") throw new ConfigError("usage", "The Lease needs a holder with a name: the identity is empty.");
}

function unfit(flag: string, ms: number, rule: string): ConfigError {
  return new ConfigError("usage", `${flag} is ${ms} ms: it ${rule}.`);
}

/** Failures that say nothing about the Lease itself: the call may have taken effect, and may succeed when repeated. */
const TRANSIENT: ReadonlySet<KubeFailure> = new Set(["rate-limited", "unavailable", "timeout", "malformed"]);
/** Failures that say the record was changed, created or deleted by someone since it was read. */
const OVERTAKEN: ReadonlySet<KubeFailure> = new Set(["conflict", "already-exists", "not-found"]);

/** True when the same call may succeed a moment later, or has succeeded and only its answer was lost. */
export function isTransient(error: unknown): boolean {
  return error instanceof KubeError && TRANSIENT.has(error.failure);
}

/** True when the Lease must be read again because somebody else wrote it, or an earlier write of ours did arrive. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof KubeError && OVERTAKEN.has(error.failure);
}

/**
 * The answer of one call about the Lease, given up after `limitMs` or when the signal is aborted. A call that was given
 * up may still take effect.
 * @throws KubeError `timeout` when it was given up; else what the call throws.
 */
export async function leaseCall<T>(
  limits: { readonly clock: Clock; readonly limitMs: number; readonly signal?: AbortSignal },
  lease: { readonly verb: string; readonly namespace: string; readonly name: string },
  call: () => Promise<T>,
): Promise<T> {
  const { clock, limitMs, signal } = limits;
  const over = new AbortController();
  const stop = (): void => over.abort();
  if (signal?.aborted === true) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const giveUp = async (): Promise<never> => {
    await clock.sleep(limitMs, over.signal);
    const subject = `${lease.namespace}/${lease.name}`;
    throw new KubeError({
      failure: "timeout",
      operation: `${lease.verb} leases.coordination.k8s.io`,
      subject,
      status: 0,
      message: `Could not ${lease.verb} Lease ${subject}: no answer within ${Math.ceil(limitMs)} ms. Check the connection to the API server.`,
    });
  };
  try {
    return await Promise.race([call(), giveUp()]);
  } finally {
    signal?.removeEventListener("abort", stop);
    over.abort();
  }
}

/** No written duration beyond this is believed: a record edited by hand must not lock everybody out for ever. */
const LONGEST_MS = 3_600_000;
/** `leaseTransitions` is an int32. */
const MOST_TRANSITIONS = 2_147_483_647;

/**
 * How long a record may stay unchanged before it is expired: its `leaseDurationSeconds`, at most an hour, or `ownMs`
 * where it says nothing usable. Milliseconds.
 */
function leaseDurationMs(record: LeaseRecord, ownMs: number): number {
  const writtenMs = record.durationSeconds * 1000;
  return writtenMs > 0 ? Math.min(writtenMs, Math.max(LONGEST_MS, ownMs)) : ownMs;
}

/** How far `renewTime` is from the server's clock, in either direction: a time in the future is as doubtful as an old one. Milliseconds. */
function renewalAgeMs(record: LeaseRecord, serverNowMs: number): number {
  return Math.abs(serverNowMs - record.renewTimeMs);
}

/** True while two readings show the same hold without a renewal between them. Annotations do not count: anyone may touch them. */
function isUnchanged(before: LeaseRecord, after: LeaseRecord): boolean {
  return (
    before.holder === after.holder &&
    Object.is(before.durationSeconds, after.durationSeconds) &&
    Object.is(before.acquireTimeMs, after.acquireTimeMs) &&
    Object.is(before.renewTimeMs, after.renewTimeMs) &&
    Object.is(before.transitions, after.transitions)
  );
}

/** The record of a Lease that nobody has created yet, held by `identity`. */
function createdRecord(
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
function takenRecord(
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
