import { Attempts } from "./apply/attempts.ts";
import { notingLimits, obstacle } from "./apply/context.ts";
import { type Batch, EventWriter } from "./apply/event-writer.ts";
import { noteRateLimits } from "./apply/write-back.ts";
import { inTurns } from "./in-turns.ts";
import { type Action, type ObjectRef, refKey } from "./model/action.ts";
import { KubeError } from "./model/errors.ts";
import { type PodSelector, podSelectorKey } from "./model/node.ts";
import type { Observation } from "./model/observation.ts";
import type { Outcome } from "./model/outcome.ts";
import type { Plan } from "./model/plan.ts";
import { waitingFor } from "./model/progress.ts";
import type { Condition } from "./model/resource.ts";
import type { Restraint } from "./model/restraint.ts";
import type { Pass, PassResult, ReportFailure, RunTiming, Selection } from "./model/run.ts";
import { WAITS, waitMs } from "./model/waits.ts";
import { Interrupted, untilInterrupted } from "./observe/interrupt.ts";
import { look, type ObserveDeps, observe, observeOwners, observeSpecs, type Sight } from "./observe/observe.ts";
import { type ListedObjects, readNearPods, readPods } from "./observe/read-cluster.ts";
import { ReusableFacts } from "./observe/reusable-facts.ts";
import { CLOSING_MS, type PassOptions, type WriterDeps } from "./pass.ts";
import { fruitless, type NextLook, nextLook } from "./plan/next-look.ts";
import { plan } from "./plan/plan.ts";
import { failuresInARow } from "./plan/retries.ts";
import type { ClusterReader, PodLabelReader } from "./ports/cluster.ts";
import type { Clock, LockState } from "./ports/system.ts";
import { announce, announceInSteps } from "./rehearse/announce.ts";
import { eventsOf } from "./report/events.ts";
import { noticesOf } from "./report/notices.ts";
import { Rounds } from "./rounds.ts";

/** What a reading run works with: nothing in it can write. */
export interface ReaderDeps extends ObserveDeps {
  readonly cluster: ClusterReader & Partial<PodLabelReader>;
}

/** How a plan is made, beside what is seen. */
export interface PlanOptions {
  /** How much a run may take from anybody. Absent = as much as is planned. */
  readonly restraint?: Restraint;
  /** Returns the world to plan for. Absent = the world as it is seen. */
  readonly edited?: (observation: Observation) => Observation;
  /** Pods that are looked at, too, though no object asks for them. Absent = none. */
  readonly pods?: readonly PodSelector[];
}

/** Reads the world and plans; what `reconcile` would do, by the same code. Writes nothing. */
export async function planPass(deps: ReaderDeps, selection: Selection, options?: PlanOptions): Promise<PlannedWorld> {
  const seen = await observe(deps);
  const observed = await withNearPods(deps, await withPods(deps, seen, options?.pods ?? []));
  const { ownersWanted = [] } = plan(worldOf(observed, options), selection);
  const world = ownersWanted.length === 0 ? observed : await observeOwners(deps, observed, ownersWanted);
  return planWorld(world, selection, options);
}

/** Plans for what is seen without nodes and without a provider: what the plan says of specs is so in every world. Writes nothing. */
export async function planSpecs(deps: Pick<ReaderDeps, "cluster" | "registry">): Promise<Plan> {
  return plan(await observeSpecs(deps), {});
}

async function withPods(
  { cluster }: ReaderDeps,
  observed: Observation,
  selectors: readonly PodSelector[],
): Promise<Observation> {
  const unknown = selectors.filter((selector) => !observed.pods.has(podSelectorKey(selector)));
  if (unknown.length === 0) return observed;
  return { ...observed, pods: new Map([...observed.pods, ...(await readPods(cluster, unknown))]) };
}

/** Looks for the pods that were meant, too: a person will ask why a selector selects none. */
async function withNearPods({ cluster }: ReaderDeps, observed: Observation): Promise<Observation> {
  const { listPodLabels } = cluster;
  if (listPodLabels === undefined) return observed;
  const near = await readNearPods(
    {
      listPods: (selector) => cluster.listPods(selector),
      listPodLabels: (namespace) => listPodLabels.call(cluster, namespace),
    },
    observed,
  );
  return near.size === 0 ? observed : { ...observed, pods: new Map([...observed.pods, ...near]) };
}

/** A world, and what reconcile would do in it. */
export interface PlannedWorld {
  readonly observation: Observation;
  readonly plan: Plan;
}

/** Plans what reconcile would do in a world that has been seen. Pure. */
export function planWorld(observed: Observation, selection: Selection, options?: PlanOptions): PlannedWorld {
  const observation = worldOf(observed, options);
  return { observation, plan: announce(plan(observation, selection), observation, selection) };
}

/** The world to plan for. */
function worldOf(observed: Observation, { restraint, edited }: PlanOptions = {}): Observation {
  const world = edited === undefined ? observed : edited(observed);
  return restraint === undefined ? world : { ...world, restraint };
}

/**
 * One pass: observe → plan → apply → report. What apply learned is folded into the observation and planned again, until nothing is left that was not tried; the
 * last of these plans says what remains and which statuses to write.
 *
 * @throws KubeError when the cluster cannot be read, Interrupted when the signal came while the world was read; then nothing was written.
 */
export async function reconcilePass(deps: WriterDeps, options: PassOptions): Promise<PassResult> {
  const { result, seen } = await pass(deps, options);
  return { ...result, plan: await inTurns(announceInSteps(result.plan, seen, options.selection), deps.clock) };
}

/**
 * One pass of a process that goes on. As {@link reconcilePass}, but what it knows of the providers is left in `reusable` for the next pass, what follows is not announced,
 * and it also returns what it saw, and when something of that is to be read again.
 */
export async function pass(own: WriterDeps, options: PassOptions): Promise<Pass & { readonly seen: Observation }> {
  const { deadlineMs, signal } = options;
  const { limits = new Map() } = own;
  const deps = { ...own, limits, ...notingLimits(own, limits), objects: restedObjects(own) };
  const watch = stopwatch(deps.clock);
  const sinceMs = deps.cluster.now();
  const sight = await untilInterrupted(sightOf(deps, options), signal);
  const observeMs = watch.lap();
  const rounds = new Rounds(deps, options, sight);
  await rounds.run();
  const applyMs = Math.max(0, watch.lap() - rounds.planMs);
  const { announced, context, observation, seen, remaining, planMs, failovers } = rounds;
  const carriedOut = options.saved?.result(rounds.outcomes, deps.cluster.now(), obstacle(context));
  const outcomes = [...inPlanOrder(rounds.outcomes, announced), ...(carriedOut?.left ?? [])];
  deps.reusable?.awaitOthers(remaining.holds.some(({ waitsFor }) => waitsFor === "shard"));
  const nextReadInMs = deps.reusable?.nextDueInMs();
  const { failures, refusedBefore } = await rounds.writeStatuses();
  deps.attempts?.keep(remaining, observation, failures);
  deps.attempts?.leave(observation, context.stores);
  rounds.leaveStatuses();
  const late = deps.attempts?.takeLate() ?? [];
  const mayTell = (): boolean => deps.lock.isHeld() && deps.clock.monotonicMs() < deadlineMs;
  const stored = (object: ObjectRef): readonly Condition[] =>
    context.stores[object.kind].get(object)?.status.conditions ?? [];
  const told = { seen, planned: announced, outcomes, remaining, stored };
  const batch = { events: eventsOf(told), stores: context.stores, mayWrite: mayTell };
  const eventFailures = await writeBatch(deps, batch, options);
  const notices = noticesOf(told, countFailures(seen, remaining));
  await noteRateLimits(() => rounds.latest, deps, sinceMs);
  const result = {
    plan: announced,
    outcomes,
    remaining,
    reportFailures: [...late, ...failures, ...refusedBefore, ...eventFailures],
    ...interruption(signal, deps.lock),
    timing: { observeMs, planMs, applyMs, reportMs: watch.lap(), failoverSeconds: failovers },
    ...(carriedOut === undefined ? {} : { saved: carriedOut.saved }),
    ...(notices.length === 0 ? {} : { notices }),
  };
  const nextStatusMs = deps.attempts?.nextStatusMs();
  return {
    result,
    seen,
    ...(nextReadInMs === undefined ? {} : { nextReadInMs }),
    ...(nextStatusMs === undefined ? {} : { nextStatusMs }),
  };
}

/** Objects as they count for a process that goes on. */
function restedObjects({ attempts, cluster, clock }: WriterDeps): ListedObjects | undefined {
  return attempts && ((listed) => attempts.objects(listed, { nowMs: cluster.now(), monotonicMs: clock.monotonicMs() }));
}

/** Writes the Events of a pass. The last pass of a process waits until all are written, any other one a moment. */
async function writeBatch(
  { events, cluster, clock }: WriterDeps,
  batch: Batch,
  { signal, hurry }: PassOptions,
): Promise<readonly ReportFailure[]> {
  const writer = events ?? new EventWriter(cluster, clock);
  const failures = await writer.write(batch, hurry);
  const isLastPass = events === undefined || signal.aborted;
  return isLastPass ? [...failures, ...(await writer.ended())] : failures;
}

/** Returns what tells how often an action has failed in a row, before a pass and after it. */
function countFailures(
  { pools, recordSets }: Observation,
  remaining: Plan,
): (action: Action) => { readonly before: number; readonly after: number } {
  const before = new Map([
    ...pools.map(({ kind, meta, status }) => [refKey({ kind, ...meta }), status.retries] as const),
    ...recordSets.map(({ meta, status }) => [refKey({ kind: "dns", ...meta }), status.retries] as const),
  ]);
  const after = new Map(
    [...remaining.pools, ...remaining.recordSets].map(
      ({ object, status }) => [refKey(object), status.retries] as const,
    ),
  );
  return (action) => {
    const key = refKey(action.object);
    return {
      before: failuresInARow(action, before.get(key) ?? []),
      after: failuresInARow(action, after.get(key) ?? []),
    };
  };
}

/** Whether a pass has to stop early, and why. */
function interruption(signal: AbortSignal, lock: LockState): Pick<PassResult, "wasInterrupted" | "hasLostLease"> {
  const hasLostLease = !lock.isHeld();
  return { wasInterrupted: signal.aborted || hasLostLease, ...(hasLostLease ? { hasLostLease } : {}) };
}

/** A look at the world. A saved plan is judged on all of it; else what is there first is worked on first. */
async function sightOf(deps: WriterDeps, { saved }: PassOptions): Promise<Sight> {
  const sight = await look(deps);
  if (saved !== undefined) await sight.looking.whole();
  return sight;
}

/** What was announced comes first, in the order of the plan; then what followed, in the order it ended. So the same run reads the same, whatever was faster this time. */
function inPlanOrder(outcomes: readonly Outcome[], { actions }: Plan): readonly Outcome[] {
  const places = new Map(actions.map(({ id }, at) => [id, at]));
  const placeOf = ({ action }: Outcome): number => places.get(action.id) ?? actions.length;
  return outcomes.toSorted((a, b) => placeOf(a) - placeOf(b));
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

/** The shortest wait between two passes, milliseconds: never a hot loop. */
const SHORTEST_WAIT_MS = 500;

/** Nobody tells such a run of changes: it looks at the cluster itself when a time has come. */
const NO_CHANGE = new AbortController().signal;

/**
 * Passes until nothing is left to do, or the deadline: cool-offs, grace and retries that end inside it are waited for. Later passes ask the providers only for what is
 * moving, could not be read, or is about to change.
 *
 * @returns one result over all passes: planned first, done in all of them, left after the last.
 * @throws KubeError and Interrupted as {@link reconcilePass}, in the very first pass.
 */
export async function settle(deps: WriterDeps, options: PassOptions): Promise<PassResult> {
  const events = new EventWriter(deps.cluster, deps.clock);
  const own = {
    ...deps,
    reusable: new ReusableFacts(deps.clock),
    attempts: new Attempts({ isLasting: false }),
    limits: new Map(),
    events,
  };
  const total = await passAgainAndAgain(own, { ...options, nextChange: () => NO_CHANGE });
  return { ...total, reportFailures: [...total.reportFailures, ...(await events.ended())] };
}

async function passAgainAndAgain(own: WriterDeps, options: PassOptions): Promise<PassResult> {
  const first = await pass(own, options);
  // Namespaces are listed once a run. Without an object they were not.
  const wasListed = first.seen.pools.length + first.seen.recordSets.length > 0;
  const later = wasListed ? { ...own, knownGrants: first.seen.grants } : own;
  let { result: total, nextReadInMs } = first;
  let fruitlessPasses = fruitless(total, 0);
  for (;;) {
    const leftOverMs = waitMs(WAITS.fruitlessPass, fruitlessPasses);
    const next = nextLook(total.remaining, own.cluster.now(), { leftOverMs, nextReadInMs });
    const leftMs = options.deadlineMs - CLOSING_MS - own.clock.monotonicMs();
    if (next === undefined || next.inMs > leftMs || total.wasInterrupted) return total;
    await rest(own, next, options.signal);
    const stopped = interruption(options.signal, own.lock);
    if (stopped.wasInterrupted) return { ...total, ...stopped };
    const again = await lookAgain(later, options);
    if (again === "unreadable") continue;
    if (again === "interrupted") return { ...total, wasInterrupted: true };
    fruitlessPasses = fruitless(again.result, fruitlessPasses);
    total = together(total, again.result);
    nextReadInMs = again.nextReadInMs;
  }
}

/** What passes of one run did: planned first, done in all of them, left after the last. A status is written again, an Event is not: its failure stays told. */
function together(before: PassResult, after: PassResult): PassResult {
  return {
    ...after,
    plan: before.plan,
    outcomes: [...before.outcomes, ...after.outcomes],
    reportFailures: [...before.reportFailures.filter(({ what }) => what === "event"), ...after.reportFailures],
    notices: [...(before.notices ?? []), ...(after.notices ?? [])],
    timing: addTiming(before.timing, after.timing),
  };
}

/** Waits until the next pass; a person is told for what. */
async function rest(
  { clock, lock, progress }: WriterDeps,
  { inMs, hold }: NextLook,
  signal: AbortSignal,
): Promise<void> {
  const stop = AbortSignal.any([signal, lock.lost]);
  await waitingFor(progress, { kind: "hold", hold }, () => clock.sleep(Math.max(inMs, SHORTEST_WAIT_MS), stop));
}

/** A later pass that cannot read the cluster writes nothing, and takes nothing away from what the earlier ones did. */
async function lookAgain(deps: WriterDeps, options: PassOptions): Promise<Pass | "unreadable" | "interrupted"> {
  try {
    return await pass(deps, options);
  } catch (error) {
    if (error instanceof KubeError) return "unreadable";
    if (error instanceof Interrupted) return "interrupted";
    throw error;
  }
}

function addTiming(a: RunTiming, b: RunTiming): RunTiming {
  return {
    observeMs: a.observeMs + b.observeMs,
    planMs: a.planMs + b.planMs,
    applyMs: a.applyMs + b.applyMs,
    reportMs: a.reportMs + b.reportMs,
    failoverSeconds: [...a.failoverSeconds, ...b.failoverSeconds],
  };
}
