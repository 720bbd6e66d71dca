import { ConfigError, KubeError } from "../model/errors.ts";
import type { LeaseRecord } from "../ports/cluster.ts";
import { isOvertaken, isTransient, leaseCall } from "./lease-call.ts";
import { jittered } from "./lease-jitter.ts";
import { callLimitMs, type LeaseOptions } from "./lease-options.ts";
import { createdRecord, isUnchanged, leaseDurationMs, renewalAgeMs, takenRecord } from "./lease-record.ts";

/** A Lease just taken: the record as stored, and the monotonic time before the call that stored it. */
export interface TakenLease {
  readonly kind: "taken";
  readonly record: LeaseRecord;
  readonly renewedAtMs: number;
}

/** A Lease that stayed with someone else; `holder` is `""` when that is not known. */
export interface LockedLease {
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
