import { apply } from "./apply/apply.ts";
import { type Attempts, laterTime } from "./apply/attempts.ts";
import { applyContext, type Journals, obstacle, ownerJournal, type WriteAccess } from "./apply/context.ts";
import { noteRateLimits } from "./apply/note-rate-limits.ts";
import { skipped } from "./apply/result.ts";
import { untried } from "./apply/untried.ts";
import { writeEvents, writeStatuses } from "./apply/write-back.ts";
import type { Action } from "./model/action.ts";
import type { Observation } from "./model/observation.ts";
import type { Outcome } from "./model/outcome.ts";
import type { Plan } from "./model/plan.ts";
import type { Reason } from "./model/reason.ts";
import { type DNSMemory, type ObjectMeta, objectKey, type Pool, type RecordSet } from "./model/resource.ts";
import type { Pass, PassResult, Selection } from "./model/run.ts";
import { untilInterrupted } from "./observe/interrupt.ts";
import { type ObserveDeps, observe } from "./observe/observe.ts";
import { fold } from "./plan/fold.ts";
import { plan } from "./plan/plan.ts";
import type { Clock } from "./ports/clock.ts";
import { announce, MOST_ROUNDS } from "./rehearse/announce.ts";
import { failoverSeconds } from "./report/metrics/failover-seconds.ts";

/** What a reading run works with: nothing in it can write. */
export type ReaderDeps = ObserveDeps;

/** What a mutating run works with. */
export type WriterDeps = ObserveDeps &
  WriteAccess & {
    /** What this process remembers of its own attempts. Absent for a process that makes one pass. */
    readonly attempts?: Attempts | undefined;
  };

/** How a mutating run is bounded. */
export interface PassOptions {
  readonly selection: Selection;
  /** Monotonic milliseconds by which the run must have ended; the last of it is kept for writing statuses. */
  readonly deadline: number;
  /** Aborted when the run is asked to end: what is in flight is finished, statuses are written. */
  readonly signal: AbortSignal;
  /** Aborted when something more urgent has come up: everything planned is still begun, but nothing is waited for. Absent = never. */
  readonly hurry?: AbortSignal;
  /** Says of a plan which record sets are to wait, as {@link Observation.settling}. Absent = none. */
  readonly settling?: (plan: Plan) => ReadonlyMap<string, number>;
}

/** Kept at the end of a run for statuses, Events and the Lease, milliseconds. */
export const CLOSING_MS = 3000;

/** Reads the world and plans; what `reconcile` would do, by the same code. Writes nothing. */
export async function planPass(
  deps: ReaderDeps,
  selection: Selection,
): Promise<{ readonly observation: Observation; readonly plan: Plan }> {
  const observation = await observe(deps);
  return { observation, plan: announce(plan(observation, selection), observation, selection) };
}

/**
 * One pass: observe → plan → apply → report. What apply learned is folded into the observation and planned again, until nothing is left that was not tried; the
 * last of these plans says what remains and which statuses to write.
 *
 * @throws KubeError when the cluster cannot be read, Interrupted when the signal came while the world was read; then nothing was written.
 */
export async function reconcilePass(deps: WriterDeps, options: PassOptions): Promise<PassResult> {
  const { result, seen } = await pass(deps, options);
  return { ...result, plan: announce(result.plan, seen, options.selection) };
}

/** As {@link reconcilePass}, for a process that goes on: leaves what it knows of the providers in `reusable`, and tells what it saw first and when something of that is to be read again. What follows is not announced. */
export async function pass(
  deps: WriterDeps,
  { selection, deadline, signal, hurry, settling }: PassOptions,
): Promise<Pass & { readonly seen: Observation }> {
  const watch = stopwatch(deps.clock);
  const read = await untilInterrupted(observe(deps), signal);
  const seen = deps.attempts?.recall(read) ?? read;
  let observation = seen;
  const observeMs = watch.lap();
  let first = plan(observation, selection);
  const waiting = settling?.(first);
  if (waiting !== undefined && waiting.size > 0) {
    observation = { ...observation, settling: waiting };
    first = plan(observation, selection);
  }
  let planMs = watch.lap();
  let applyMs = 0;
  const context = applyContext(deps, read, { deadline: deadline - CLOSING_MS, signal, hurry });
  const outcomes: Outcome[] = [];
  const failovers: number[] = [];
  let current = first;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const actions = untried(current.actions, outcomes);
    if (actions.length === 0) break;
    const reason = obstacle(context);
    if (reason !== undefined) {
      outcomes.push(...notBegun(actions, reason, deps.cluster.now()));
      break;
    }
    const results = await apply(current, actions, context);
    outcomes.push(...results);
    failovers.push(...failoverSeconds(current, results));
    applyMs += watch.lap();
    const now = { nowMs: deps.cluster.now(), wallMs: deps.clock.wallMs() };
    observation = fold(withJournals(observation, context.journals), results, now);
    current = plan(observation, selection);
    planMs += watch.lap();
  }
  deps.reusable?.keep(observation);
  const nextReadInMs = deps.reusable?.nextDueInMs();
  const failures = await writeStatuses(current, context.journals, deps.attempts);
  deps.attempts?.keep(current, observation, failures);
  const mayTell = (): boolean => deps.lock.isHeld() && deps.clock.monotonicMs() < deadline;
  const eventFailures = await writeEvents(outcomes, context.journals, deps.cluster, mayTell);
  await noteRateLimits(observation, context);
  const result = {
    plan: first,
    outcomes,
    remaining: current,
    reportFailures: [...failures, ...eventFailures],
    wasInterrupted: signal.aborted || !deps.lock.isHeld(),
    timing: { observeMs, planMs, applyMs, reportMs: watch.lap(), failoverSeconds: failovers },
  };
  return nextReadInMs === undefined ? { result, seen } : { result, seen, nextReadInMs };
}

/** What there was no time, or no lock, left to begin: a run that did nothing for such a reason has not done well. */
function notBegun(actions: readonly Action[], reason: Reason, endedAtMs: number): readonly Outcome[] {
  return actions.map((action) => ({ action, ms: 0, endedAtMs, ...skipped(reason) }));
}

/** Tells how many milliseconds have passed since it was last asked. */
function stopwatch(clock: Clock): { readonly lap: () => number } {
  let sinceMs = clock.monotonicMs();
  return {
    lap() {
      const nowMs = clock.monotonicMs();
      const ms = nowMs - sinceMs;
      sinceMs = nowMs;
      return ms;
    },
  };
}

/** Takes over what was put on record while actions ran: the object's version, what was acquired, what was added to firewalls, the name it publishes under, and, where a cool-off needs it, the time of an assignment. */
function withJournals(observation: Observation, journals: Journals): Observation {
  const mergePool = (pool: Pool): Pool => {
    const stored = ownerJournal({ kind: pool.kind, ...pool.meta }, journals).object(objectKey(pool.meta));
    if (stored === undefined || stored === pool) return pool;
    const { acquired, pendingAcquisitions, lastAssignmentTime, firewalls } = stored.status;
    const latest = laterTime(lastAssignmentTime, pool.status.lastAssignmentTime);
    const time = pool.spec.assignmentCoolOffSeconds > 0 && latest !== undefined ? { lastAssignmentTime: latest } : {};
    const added = firewalls === undefined ? {} : { firewalls };
    const status = { ...pool.status, acquired, pendingAcquisitions, ...time, ...added, ...namesOf(stored.status) };
    return { ...pool, meta: atReadGeneration(stored.meta, pool.meta), status };
  };
  const mergeRecordSet = (recordSet: RecordSet): RecordSet => {
    const stored = journals.dns.object(objectKey(recordSet.meta));
    if (stored === undefined || stored === recordSet) return recordSet;
    const status = { ...recordSet.status, ...namesOf(stored.status) };
    return { ...recordSet, meta: atReadGeneration(stored.meta, recordSet.meta), status };
  };
  return {
    ...observation,
    pools: observation.pools.map(mergePool),
    recordSets: observation.recordSets.map(mergeRecordSet),
  };
}

/** The spec is the one that was read: a status computed from it must not pass for one of an edit that came meanwhile. */
function atReadGeneration(stored: ObjectMeta, { generation }: ObjectMeta): ObjectMeta {
  return { ...stored, generation };
}

function namesOf({ publishedDNS, formerDNS }: DNSMemory): DNSMemory {
  return publishedDNS === undefined ? { formerDNS } : { publishedDNS, formerDNS };
}
