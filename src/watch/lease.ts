import { KubeError } from "../model/errors.ts";
import type { LeaseRecord } from "../ports/cluster.ts";
import {
  acquireLease,
  callLimitMs,
  checkLeaseOptions,
  isOvertaken,
  isTransient,
  jittered,
  type LeaseOptions,
  leaseCall,
  releasedRecord,
  renewedRecord,
  type TakenLease,
} from "./lease-acquire.ts";

/**
 * Runs `work` while holding the Lease, and gives it back afterwards, also when the work throws.
 *
 * `done` has the work's value; whether the Lease was lost on the way is for the work to notice (`lock.isHeld()`,
 * `lock.lost`): there is no fencing, so it must ask before every mutation. `locked` means the work never began, because
 * someone else kept the Lease (until the deadline with `wait`) or the signal came first; `holder` is `""` when it is not
 * known who.
 *
 * Effects: one read and one write to take it, one write per retry period while the work runs, one to give it back.
 * Annotations of the Lease are kept by all of them.
 *
 * @throws ConfigError `usage` when the periods do not fit together, `invalid` when the namespace does not exist;
 * KubeError when the API refuses or stays away; what `work` throws.
 */
export async function withLease<T>(
  options: LeaseOptions,
  work: (lock: HeldLease) => Promise<T>,
): Promise<{ kind: "done"; value: T } | { kind: "locked"; holder: string }> {
  checkLeaseOptions(options);
  const taken = await acquireLease(options);
  if (taken.kind === "locked") return taken;
  const keeper = new LeaseKeeper(options, taken);
  const keeping = keeper.keep();
  try {
    if (options.signal.aborted) return { kind: "locked", holder: "" };
    return { kind: "done", value: await work(keeper) };
  } finally {
    await keeper.release();
    await keeping;
  }
}

/** The lock as the work under it sees it. */
export interface HeldLease {
  /** False once the Lease is lost or given back, by local monotonic time even where timers were late; then false for ever. */
  isHeld(): boolean;
  /** Aborted when the Lease is lost, with a KubeError as reason; not when it is given back. */
  readonly lost: AbortSignal;
  /** The Lease's annotations as last stored. */
  annotations(): Readonly<Record<string, string>>;
  /**
   * Sets (string) or removes (null) annotations now, keeping the others, and renews the Lease with the same write.
   * Resolves when they are stored; repeated until then.
   * @throws KubeError when the Lease is lost (whether they were stored is then unknown), or when the API refuses them.
   */
  annotate(changes: Readonly<Record<string, string | null>>): Promise<void>;
}

type Changes = Readonly<Record<string, string | null>>;

/** Renews a taken Lease until it is released or lost. All its writes go one after the other. */
class LeaseKeeper implements HeldLease {
  private readonly options: LeaseOptions;
  private readonly losing = new AbortController();
  /** Aborted when renewing ends, for either reason. */
  private readonly stopping = new AbortController();
  private readonly acquireTimeMs: number;
  private record: LeaseRecord;
  /** Monotonic time before the last call that stored a renewal. */
  private renewedAtMs: number;
  private lastWrite: Promise<unknown> = Promise.resolve();
  private lastError: unknown;
  private isReleased = false;
  private round = 0;

  constructor(options: LeaseOptions, taken: TakenLease) {
    this.options = options;
    this.record = taken.record;
    this.acquireTimeMs = taken.record.acquireTimeMs;
    this.renewedAtMs = taken.renewedAtMs;
  }

  get lost(): AbortSignal {
    return this.losing.signal;
  }

  isHeld(): boolean {
    this.loseAfter(this.options.durationMs);
    return !this.losing.signal.aborted && !this.isReleased;
  }

  annotations(): Readonly<Record<string, string>> {
    return this.record.annotations;
  }

  annotate(changes: Changes): Promise<void> {
    return this.inTurn(async () => {
      if (!(await this.store(changes))) throw this.failure("conflict", "it was given back already");
    });
  }

  /** Renews every retry period, and watches the renew deadline, until {@link release} or loss. @throws never */
  async keep(): Promise<void> {
    await Promise.all([this.renewAgainAndAgain(), this.watchDeadline()]);
  }

  /**
   * Ends {@link keep} and gives the Lease back, unless it is lost. A Lease that cannot be given back within one call's
   * time expires by itself.
   * @throws never
   */
  async release(): Promise<void> {
    this.stopping.abort();
    await this.inTurn(() => this.giveBack());
  }

  private async giveBack(): Promise<void> {
    const { clock, cluster } = this.options;
    if (!this.isHeld()) return;
    this.isReleased = true;
    const untilMs = clock.monotonicMs() + callLimitMs(this.options);
    for (let tries = 0; tries < 3 && clock.monotonicMs() < untilMs; tries++) {
      try {
        if (tries > 0 && (await this.refresh()) !== undefined) return;
        await this.replace(releasedRecord(this.record, cluster.now()));
        return;
      } catch (error) {
        if (!isOvertaken(error) && !isTransient(error)) return;
      }
    }
  }

  private async renewAgainAndAgain(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.options.clock.sleep(this.retryMs(), this.stopping.signal);
      // A refusal for good may be lifted before the renew deadline; the deadline decides, not the error.
      if (!this.stopping.signal.aborted) await this.inTurn(() => this.store({})).catch(() => undefined);
    }
  }

  private async watchDeadline(): Promise<void> {
    const { clock, renewDeadlineMs } = this.options;
    while (!this.stopping.signal.aborted) {
      await clock.sleep(this.renewedAtMs + renewDeadlineMs - clock.monotonicMs(), this.stopping.signal);
      this.loseAfter(renewDeadlineMs);
    }
  }

  /** Renews until it is stored; false when the Lease was to be given back before that. @throws when it is lost or refused */
  private async store(changes: Changes): Promise<boolean> {
    const { clock } = this.options;
    let startedMs = clock.monotonicMs();
    let last = await this.tryToStore(changes, false);
    for (let tries = 1; last !== "stored" && !this.stopping.signal.aborted; tries++) {
      // Counted from the start of the last try: one that hung has waited long enough.
      const pauseMs = startedMs + this.retryMs() - clock.monotonicMs();
      if (tries > 1 || last === "unanswered") await clock.sleep(pauseMs, this.stopping.signal);
      startedMs = clock.monotonicMs();
      last = await this.tryToStore(changes, last === "overtaken");
    }
    return last === "stored";
  }

  private async tryToStore(changes: Changes, mustRead: boolean): Promise<"stored" | "overtaken" | "unanswered"> {
    const { cluster, durationMs } = this.options;
    this.assertHeld();
    try {
      const loss = mustRead ? await this.refresh() : undefined;
      if (loss !== undefined) this.lose("conflict", loss);
      this.assertHeld();
      await this.replace(renewedRecord(this.record, changes, durationMs, cluster.now()));
    } catch (error) {
      this.assertHeld();
      this.lastError = error;
      if (isOvertaken(error)) return "overtaken";
      if (isTransient(error)) return "unanswered";
      throw error;
    }
    this.assertHeld();
    return "stored";
  }

  private async replace(record: LeaseRecord): Promise<void> {
    const startedMs = this.options.clock.monotonicMs();
    this.record = await this.call("update", () => this.options.cluster.replaceLease(record));
    this.renewedAtMs = startedMs;
    this.lastError = undefined;
  }

  /** Reads the record after a conflict. An earlier write of ours that arrived after all is fine; else returns why the Lease is lost. */
  private async refresh(): Promise<string | undefined> {
    const { cluster, namespace, name, identity } = this.options;
    const record = await this.call("get", () => cluster.readLease(namespace, name));
    if (record === undefined) return "it was deleted";
    if (record.holder === "") return "its holder was cleared";
    if (record.holder !== identity) return `it is held by ${record.holder} now`;
    if (record.acquireTimeMs !== this.acquireTimeMs) return "another process of the same name holds it now";
    this.record = record;
    return undefined;
  }

  private call<T>(verb: string, call: () => Promise<T>): Promise<T> {
    const { clock, namespace, name } = this.options;
    const limits = { clock, limitMs: callLimitMs(this.options), signal: this.lost };
    return leaseCall(limits, { verb, namespace, name }, call);
  }

  private inTurn<T>(write: () => Promise<T>): Promise<T> {
    const turn = this.lastWrite.then(write);
    this.lastWrite = turn.catch(() => undefined);
    return turn;
  }

  private assertHeld(): void {
    this.loseAfter(this.options.renewDeadlineMs);
    if (this.lost.aborted) throw this.lost.reason;
    if (this.isReleased) throw this.failure("conflict", "it was given back already");
  }

  private loseAfter(ms: number): void {
    const agoMs = this.options.clock.monotonicMs() - this.renewedAtMs;
    if (agoMs < ms) return;
    const why = this.lastError instanceof Error ? `: ${this.lastError.message}` : "";
    this.lose("timeout", `it could not be renewed for ${Math.round(agoMs / 1000)} s${why}`);
  }

  private lose(failure: "conflict" | "timeout", why: string): void {
    if (this.isReleased || this.lost.aborted) return;
    this.losing.abort(this.failure(failure, why));
    this.stopping.abort();
  }

  private failure(failure: "conflict" | "timeout", why: string): KubeError {
    const subject = `${this.options.namespace}/${this.options.name}`;
    return new KubeError({
      failure,
      operation: "update leases.coordination.k8s.io",
      subject,
      status: 0,
      message: `Lost Lease ${subject}: ${why}. This run changes nothing more; the next one carries on.`,
    });
  }

  private retryMs(): number {
    this.round += 1;
    return jittered(this.options.retryMs, this.options.identity, this.round);
  }
}
