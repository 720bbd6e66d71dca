import { ConfigError, KubeError } from "../model/errors.ts";
import { type Progress, waitingFor } from "../model/progress.ts";
import type { LeaseRecord } from "../ports/cluster.ts";
import type { Clock } from "../ports/system.ts";
import {
  callLimitMs,
  createdRecord,
  isOvertaken,
  isRefusal,
  isTransient,
  isUnchanged,
  jittered,
  type LeaseStore,
  leaseCall,
  leaseDurationMs,
  renewalAgeMs,
  takenRecord,
} from "./lease-record.ts";

/** Which Lease to hold. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** As whom to hold a Lease, for how long, and what to do while someone else holds it. */
export interface LeaseTerms {
  /** Names this process, uniquely; shown to others as the holder. */
  readonly identity: string;
  /** After this long without a renewal others may take the Lease; whole seconds on the wire, rounded up. */
  readonly durationMs: number;
  /** After this long without a successful renewal the holder gives up by itself. */
  readonly renewDeadlineMs: number;
  /** Time between two renewals, and between two looks at a Lease held by someone else; lengthened by up to a fifth. */
  readonly retryMs: number;
  /** `fail` and `skip` differ for the caller only: both end as soon as the holder is seen to be alive. */
  readonly onLocked: "fail" | "skip" | "wait";
}

/** Everything that is needed to take a Lease, or to wait for it. */
export interface Contention extends LeaseName, LeaseTerms {
  readonly cluster: LeaseStore;
  readonly clock: Clock;
  /** Time between two looks at a Lease held by someone else, when that is less than {@link LeaseTerms.retryMs}; lengthened as that. */
  readonly lookMs?: number;
  /** When waiting ends, in {@link Clock.monotonicMs}. It does not bound the work. */
  readonly deadline: number;
  /** Ends waiting; work that has begun is not interrupted by it. */
  readonly signal: AbortSignal;
  /** Is told while somebody else's Lease is waited for. */
  readonly progress?: Progress | undefined;
}

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
 * Takes the Lease, or says who keeps it. A Lease without a holder is taken at once. From another holder it is taken when its record has not
 * changed for `leaseDurationSeconds`, by our monotonic clock; nobody's wall clock decides that.
 *
 * Exception: the shorter of both durations is enough if
 * 1. the normal wait would end after our deadline, and
 * 2. `renewTime` and the API server's clock are at least both durations apart.
 *
 * Example: the record says 1 h, we use 15 s and our deadline is in 50 s. If the last renewal is 61 minutes ago, we take it after 15 s.
 * `fail` and `skip` do not wait for a holder that renewed within its duration by the API server's clock.
 *
 * A refusal ends it at once, unless the Lease could be read before: then it ends with the renew deadline, as it does for a holder.
 *
 * @throws ConfigError `invalid` when the namespace does not exist; KubeError when the API refuses, or stays away.
 */
export function acquireLease(options: Contention): Promise<TakenLease | LockedLease> {
  return new Contender(options).compete();
}

class Contender {
  private readonly options: Contention;
  /** The record of another holder, and since when we have seen it unchanged. */
  private observed: { readonly record: LeaseRecord; readonly sinceMs: number } | undefined;
  /** `acquireTime` of every take we sent: a record with one of them is ours although its answer was lost. */
  private readonly sent = new Set<number>();
  /** The last call failed: since when calls have, and since when they are refused. */
  private failure: { readonly error: unknown; readonly sinceMs: number; readonly refusedSinceMs?: number } | undefined;
  private round = 0;
  private overtaken = 0;

  constructor(options: Contention) {
    this.options = options;
  }

  async compete(): Promise<TakenLease | LockedLease> {
    const { clock, deadline, signal } = this.options;
    while (!signal.aborted) {
      const step = await this.attempt();
      if (step.kind !== "again") return step;
      await this.pause(() => clock.sleep(Math.min(step.afterMs, deadline - clock.monotonicMs()), signal));
      if (clock.monotonicMs() >= deadline) break;
    }
    if (this.failure !== undefined && !signal.aborted) throw this.failure.error;
    return this.locked();
  }

  /** Waits for the next attempt. A person is told who has the Lease, where that is known. */
  private async pause(sleep: () => Promise<void>): Promise<void> {
    const { progress, namespace, name } = this.options;
    const holder = this.observed?.record.holder ?? "";
    await waitingFor(progress, { kind: "lease", lease: `${namespace}/${name}`, holder }, sleep);
  }

  private async attempt(): Promise<Step> {
    const { cluster, namespace, name, onLocked } = this.options;
    let record: LeaseRecord | undefined;
    try {
      record = await this.call("get", () => cluster.readLease(namespace, name));
    } catch (error) {
      // Reads are repeated by the adapter already: someone who does not want to wait is told now.
      if (onLocked !== "wait" && !this.options.signal.aborted && this.failure === undefined) throw error;
      return this.tryAgain(error);
    }
    if (record === undefined) return this.create();
    return this.isFree(record) ? this.take(record) : this.wait(record);
  }

  private isFree(record: LeaseRecord): boolean {
    return record.holder === "" || (record.holder === this.options.identity && this.sent.has(record.acquireTimeMs));
  }

  private wait(record: LeaseRecord): Step | Promise<Step> {
    const { cluster, clock, onLocked, durationMs } = this.options;
    const nowMs = clock.monotonicMs();
    const seen = this.observed;
    this.failure = undefined;
    if (seen === undefined || !isUnchanged(seen.record, record)) {
      this.observed = { record, sinceMs: nowMs };
      const isAlive = seen !== undefined || renewalAgeMs(record, cluster.now()) < leaseDurationMs(record, durationMs);
      if (isAlive && onLocked !== "wait") return this.locked();
    }
    const leftMs = this.leftMs(record, nowMs);
    if (leftMs <= 0) return this.take(record);
    return { kind: "again", afterMs: Math.min(this.pauseMs(this.options.lookMs ?? this.options.retryMs), leftMs) };
  }

  /** Returns how much longer the record must stay unchanged before it may be taken. */
  private leftMs(record: LeaseRecord, nowMs: number): number {
    const { cluster, deadline, durationMs: ownMs } = this.options;
    const sinceMs = this.observed?.sinceMs ?? nowMs;
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
      if (!isOvertaken(error)) return this.tryAgain(error);
      this.failure = undefined;
      this.overtaken += 1;
      return { kind: "again", afterMs: this.overtaken === 1 ? 0 : this.retryMs() };
    }
  }

  private tryAgain(error: unknown): Step {
    const { clock, onLocked, renewDeadlineMs } = this.options;
    const isRefused = isRefusal(error) && this.observed !== undefined;
    if (!isTransient(error) && !isRefused) throw error;
    const nowMs = clock.monotonicMs();
    const { sinceMs = nowMs, refusedSinceMs = nowMs } = this.failure ?? {};
    this.failure = { error, sinceMs, ...(isRefused ? { refusedSinceMs } : {}) };
    const startedMs = isRefused ? refusedSinceMs : sinceMs;
    if ((isRefused || onLocked !== "wait") && nowMs - startedMs >= renewDeadlineMs) throw error;
    return { kind: "again", afterMs: this.retryMs() };
  }

  private call<T>(verb: string, call: () => Promise<T>): Promise<T> {
    const { clock, deadline, namespace, name, signal } = this.options;
    const limitMs = callLimitMs(this.options);
    // A write in flight is waited for: given up, it could leave the Lease taken by a process that has ended.
    if (verb !== "get") return leaseCall({ clock, limitMs }, { verb, namespace, name }, call);
    const leftMs = Math.max(1, deadline - clock.monotonicMs());
    const limits = {
      clock,
      limitMs: Math.min(limitMs, leftMs),
      signal,
      isRestOfRun: leftMs < limitMs && this.failure === undefined,
    };
    return leaseCall(limits, { verb, namespace, name }, call);
  }

  private hold(): Parameters<typeof createdRecord>[1] {
    const { identity, durationMs, cluster } = this.options;
    return { identity, durationMs, nowMs: cluster.now() };
  }

  private retryMs(): number {
    return this.pauseMs(this.options.retryMs);
  }

  private pauseMs(ms: number): number {
    this.round += 1;
    return jittered(ms, this.options.identity, this.round);
  }

  private locked(): LockedLease {
    return { kind: "locked", holder: this.observed?.record.holder ?? "" };
  }
}

function noNamespace(options: Contention, cause: KubeError): ConfigError {
  const { namespace, name } = options;
  return new ConfigError(
    "invalid",
    `Could not create Lease ${namespace}/${name}: namespace "${namespace}" does not exist. ` +
      `Run "kubectl create namespace ${namespace}", or name another one with --lease-namespace.`,
    { cause },
  );
}
