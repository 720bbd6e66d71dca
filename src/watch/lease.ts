import { ConfigError, KubeError } from "../model/errors.ts";
import { acquisitionAdded, changeAmongOthers, type NotedAcquisition } from "../model/lease-notes.ts";
import type { LeaseRecord } from "../ports/cluster.ts";
import type { LockState } from "../ports/system.ts";
import { acquireLease, type Contention, type LeaseTerms, type TakenLease } from "./lease-acquire.ts";
import {
  callLimitMs,
  isOvertaken,
  isTransient,
  jittered,
  leaseCall,
  releasedRecord,
  renewedRecord,
} from "./lease-record.ts";

/*
 * Who holds the Lease, and what if it is lost?
 *
 * At most one process changes anything at a time: the holder of one Lease of the cluster. Periods by default:
 *
 *   take    renew   renew                             give up           others may take it
 *   |-------|-------|-------x-------x-------x---------|-----------------|-----> time
 *           2 s     2 s     no answer                 |                 |
 *                   |------ renew deadline: 10 s -----|                 |
 *                   |------ lease duration: 15 s -----------------------|
 *
 * 1. Take. A contender takes a Lease without a holder at once, else one whose record stood still for the lease duration before its own eyes
 *    (lease-acquire.ts). Two contenders that write at once: the API server refuses the second with a conflict.
 * 2. Keep. The holder writes the record every retry period. An annotation for later runs goes out with a renewal.
 * 3. Lose. The holder gives up 10 s after the start of its last stored renewal, by its own monotonic clock: 5 s before anyone else may begin. It
 *    also gives up when it reads another holder, another `acquireTime`, or no Lease. Nothing fences its calls, so whoever works under the lock
 *    asks `isHeld()` before every change and stops waiting when `lost` is aborted. A lost lock never comes back; the process ends its pass.
 * 4. Give back. The holder clears its name. If that fails, the Lease expires by itself.
 *
 * Invariant: a renewal counts from the moment before its call, not from its answer. So both sides measure from a time that is never too late.
 */

/** Everything that one hold of a Lease needs. */
export interface LeaseOptions extends Contention {
  /** Called once the Lease is known to be given back. */
  readonly onRelease?: () => void;
  /** Called with what kept it from being given back: nobody else has it before it expires. Not called for a Lease that was lost. */
  readonly onKept?: (error: unknown) => void;
  /** Returns the annotations to leave when the work throws. They are written with the call that gives the Lease back. Absent = none. */
  readonly annotateFailure?: AnnotateFailure | undefined;
}

/** Returns annotations for what the work threw. `endedAtMs` is by the API server's clock, `notes` are those of the Lease. Must not throw. */
export type AnnotateFailure = (
  error: unknown,
  endedAtMs: number,
  notes: Readonly<Record<string, string>>,
) => Readonly<Record<string, string>>;

/** The lock of a run with `--no-lock`: always held, never lost, and notes for later runs go nowhere. */
export const NO_LOCK: LockState = {
  isHeld: () => true,
  lost: new AbortController().signal,
  annotations: () => ({}),
  annotate: () => Promise.resolve(),
  noteAcquisition: () => Promise.resolve(true),
};

/**
 * Runs `work` while holding the Lease, and gives it back afterwards, also when the work throws.
 *
 * Returns `done` with the work's value, also if the Lease was lost on the way: the work must notice that by itself. Returns `locked` if the work
 * never began, because someone else kept the Lease or the signal came first; `holder` is `""` when it is not known who.
 *
 * Effects: one read and one write to take it, one write per retry period while the work runs, one to give it back.
 * Annotations of the Lease are kept by all of them.
 *
 * @throws ConfigError `usage` when the periods do not fit together, `invalid` when the namespace does not exist;
 * KubeError when the API refuses or stays away; what `work` throws.
 */
export async function withLease<T>(
  options: LeaseOptions,
  work: (lock: LockState) => Promise<T>,
): Promise<{ kind: "done"; value: T } | { kind: "locked"; holder: string }> {
  checkPeriods(options);
  const fitting = { ...options, ...fittingPeriods(options) };
  const taken = await acquireLease(fitting);
  if (taken.kind === "locked") return taken;
  const keeper = new LeaseKeeper(fitting, taken);
  const keeping = keeper.keep();
  try {
    if (options.signal.aborted || options.clock.monotonicMs() >= options.deadline)
      return { kind: "locked", holder: "" };
    return { kind: "done", value: await work(keeper) };
  } catch (error) {
    keeper.leave(options.annotateFailure?.(error, options.cluster.now(), keeper.annotations()) ?? {});
    throw error;
  } finally {
    if (await keeper.release()) options.onRelease?.();
    await keeping;
  }
}

/**
 * Checks the three periods against each other, as client-go does.
 * @throws ConfigError `usage` naming the two flags that do not fit.
 */
function checkPeriods(options: LeaseTerms): void {
  const { durationMs, renewDeadlineMs, retryMs, identity } = options;
  if (!(durationMs >= 1000)) throw unfit("--lease-duration", durationMs, "must be at least 1s");
  if (!(renewDeadlineMs < durationMs)) {
    throw unfit("--renew-deadline", renewDeadlineMs, `must be shorter than --lease-duration (${flagText(durationMs)})`);
  }
  if (!(retryMs > 0 && retryMs * 1.2 < renewDeadlineMs)) {
    throw unfit(
      "--retry-period",
      retryMs,
      `must be above 0 and 1.2 times it below --renew-deadline (${flagText(renewDeadlineMs)})`,
    );
  }
  if (identity === "") throw new ConfigError("usage", "The Lease needs a holder with a name: the identity is empty.");
}

type Periods = Pick<LeaseTerms, "durationMs" | "renewDeadlineMs" | "retryMs">;

/**
 * Shortens the periods, all alike, so that the Lease lasts for at most half of the time until the deadline, and for a second at least.
 * Who is killed leaves a Lease then that the next run of the same length can see expire, and still work.
 */
function fittingPeriods({ durationMs, renewDeadlineMs, retryMs, clock, deadline }: LeaseOptions): Periods {
  const halfMs = (deadline - clock.monotonicMs()) / 2;
  const share = Math.min(1, Math.max(1000, halfMs) / durationMs);
  return { durationMs: durationMs * share, renewDeadlineMs: renewDeadlineMs * share, retryMs: retryMs * share };
}

function unfit(flag: string, ms: number, rule: string): ConfigError {
  return new ConfigError("usage", `${flag} is ${flagText(ms)}: it ${rule}.`);
}

/** Returns a duration as a flag takes it, exactly: `2m`, `20s`, `1500ms`. */
function flagText(ms: number): string {
  if (ms !== 0 && ms % 60_000 === 0) return `${ms / 60_000}m`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

type Changes = Parameters<LockState["annotate"]>[0];
/** Changes that depend on what is there. */
type ChangesOf = (stored: Readonly<Record<string, string>>) => Changes;

const NO_CHANGES: ChangesOf = () => ({});

/** Renews a taken Lease until it is released or lost. All its writes go one after the other. */
class LeaseKeeper implements LockState {
  private readonly options: LeaseOptions;
  private readonly losing = new AbortController();
  /** Aborted when renewing ends, for either reason. */
  private readonly stopping = new AbortController();
  private readonly acquireTimeMs: number;
  private record: LeaseRecord;
  /** Monotonic time before the last call that stored a renewal. */
  private renewedAtMs: number;
  /** The last write that was tried: what it would store, and the monotonic time before its call. */
  private sent: { readonly renewTimeMs: number; readonly startedMs: number } | undefined;
  private lastWrite: Promise<unknown> = Promise.resolve();
  private lastError: unknown;
  private isReleased = false;
  /** Annotations that are written with the call that gives the Lease back. */
  private left: LeaseRecord["annotations"] = {};
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
    const seen = this.record.annotations;
    return this.annotateAs((stored) => changeAmongOthers(changes, seen, stored));
  }

  async noteAcquisition(acquisition: NotedAcquisition): Promise<boolean> {
    let added: Changes | undefined;
    await this.annotateAs((stored) => {
      added = acquisitionAdded(stored, acquisition);
      return added ?? {};
    });
    return added !== undefined;
  }

  private annotateAs(changes: ChangesOf): Promise<void> {
    return this.inTurn(async () => {
      if (!(await this.store(changes))) throw this.failure("conflict", "it was given back already");
    });
  }

  /** Renews every retry period, and watches the renew deadline, until {@link release} or loss. @throws never */
  async keep(): Promise<void> {
    await Promise.all([this.renewAgainAndAgain(), this.watchDeadline()]);
  }

  /** Adds annotations to the call that gives the Lease back: they cost no time of their own. */
  leave(annotations: LeaseRecord["annotations"]): void {
    this.left = annotations;
  }

  /**
   * Ends {@link keep} and gives the Lease back, unless it is lost. A Lease that cannot be given back within one call's
   * time expires by itself. Returns false where that is not known to have worked.
   * @throws never
   */
  async release(): Promise<boolean> {
    this.stopping.abort();
    return await this.inTurn(() => this.giveBack());
  }

  private async giveBack(): Promise<boolean> {
    const { clock, cluster, onKept } = this.options;
    if (!this.isHeld()) return false;
    this.isReleased = true;
    const untilMs = clock.monotonicMs() + callLimitMs(this.options);
    let last: unknown;
    for (let tries = 0; tries < 3 && clock.monotonicMs() < untilMs; tries++) {
      try {
        if (tries > 0 && (await this.refresh()) !== undefined) return false;
        const annotations = { ...this.record.annotations, ...this.left };
        await this.replace(releasedRecord({ ...this.record, annotations }, cluster.now()));
        return true;
      } catch (error) {
        last = error;
        if (!isOvertaken(error) && !isTransient(error)) break;
      }
    }
    onKept?.(last);
    return false;
  }

  private async renewAgainAndAgain(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.options.clock.sleep(this.retryMs(), this.stopping.signal);
      // A refusal for good may be lifted before the renew deadline; the deadline decides, not the error.
      if (!this.stopping.signal.aborted) await this.inTurn(() => this.store(NO_CHANGES)).catch(() => undefined);
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
  private async store(changes: ChangesOf): Promise<boolean> {
    const { clock } = this.options;
    let startedMs = clock.monotonicMs();
    let last = await this.tryToStore(changes, false);
    for (let tries = 1; last !== "stored" && !this.stopping.signal.aborted; tries++) {
      // Counted from the start of the last try: one that hung has waited long enough.
      const pauseMs = startedMs + this.retryMs() - clock.monotonicMs();
      if (tries > 1 || last === "unanswered") await clock.sleep(pauseMs, this.stopping.signal);
      startedMs = clock.monotonicMs();
      last = await this.tryToStore(changes, true);
    }
    return last === "stored";
  }

  private async tryToStore(changes: ChangesOf, mustRead: boolean): Promise<"stored" | "overtaken" | "unanswered"> {
    const { cluster, durationMs } = this.options;
    this.assertHeld();
    try {
      const loss = mustRead ? await this.refresh() : undefined;
      if (loss !== undefined) this.lose("conflict", loss);
      this.assertHeld();
      await this.replace(renewedRecord(this.record, changes(this.record.annotations), durationMs, cluster.now()));
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
    this.sent = { renewTimeMs: record.renewTimeMs, startedMs };
    this.record = await this.call("update", () => this.options.cluster.replaceLease(record));
    this.renewedAtMs = startedMs;
    this.lastError = undefined;
  }

  /**
   * Reads the record after a conflict, or a write without an answer. If that write is stored it counts as any renewal, from before its call. Returns why the Lease is lost;
   * undefined if it is not.
   */
  private async refresh(): Promise<string | undefined> {
    const { cluster, namespace, name, identity } = this.options;
    const record = await this.call("get", () => cluster.readLease(namespace, name));
    if (record === undefined) return "it was deleted";
    if (record.holder === "") return "its holder was cleared";
    if (record.holder !== identity) return `it is held by ${record.holder} now`;
    if (record.acquireTimeMs !== this.acquireTimeMs) return "another process of the same name holds it now";
    this.record = record;
    if (this.sent !== undefined && record.renewTimeMs === this.sent.renewTimeMs) this.renewedAtMs = this.sent.startedMs;
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
    // The sentence goes on: the error brings a full stop of its own.
    const why = this.lastError instanceof Error ? `: ${this.lastError.message.replace(/\.$/, "")}` : "";
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
