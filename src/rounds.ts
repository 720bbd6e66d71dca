import { type ApplyContext, applyContext, ENDING_MS, isTimeOver, notBegun, obstacle } from "./apply/context.ts";
import { Scheduler } from "./apply/scheduler.ts";
import { Tries } from "./apply/tries.ts";
import { StatusWriter, withStatusToTell } from "./apply/write-back.ts";
import { inTurns } from "./in-turns.ts";
import { type Action, type ObjectRef, refKey } from "./model/action.ts";
import { InternalError, KubeError } from "./model/errors.ts";
import type { Observation } from "./model/observation.ts";
import type { Outcome } from "./model/outcome.ts";
import type { Plan } from "./model/plan.ts";
import type { Pool, RecordSet } from "./model/resource.ts";
import { DueLooks } from "./observe/due-looks.ts";
import type { Enter, Looking } from "./observe/looking.ts";
import { withoutAwaited } from "./observe/meanwhile.ts";
import { withObjectsNow } from "./observe/objects-now.ts";
import { enterAll, needs, type Sight } from "./observe/observe.ts";
import { OwnerLooks } from "./observe/owners.ts";
import { type ClusterNow, readClusterAgain, readNodesAgain } from "./observe/read-cluster.ts";
import { CLOSING_MS, type PassOptions, type WriterDeps } from "./pass.ts";
import { duringActions, fold } from "./plan/fold.ts";
import { firstEndMs } from "./plan/next-look.ts";
import { planInSteps } from "./plan/plan.ts";
import { aborted, untilAfter } from "./ports/system.ts";
import { announceInSteps } from "./rehearse/announce.ts";
import { MOST_ROUNDS } from "./rehearse/passing.ts";
import { failoverSeconds } from "./report/metrics/samples.ts";

/** What came of actions is planned on after this, milliseconds, where all of it says "done": more is about to come. */
const TOGETHER_MS = 250;
/** Or after so many times what the last plan cost, where that is longer: so hundreds of actions that end one after the other are not planned on each by itself. */
const TOGETHER_PLANS = 3;
/** It is planned on after this, milliseconds, where something is left to be decided; after what the last plan cost where that is longer, so that at most half of the time goes into planning. */
const AT_ONCE_MS = 5;
/** What is still under way so long after a change of the cluster, milliseconds, no longer keeps the pass from looking at it. */
const OVERTAKEN_MS = 50;
/** So long nothing begins, milliseconds, where somebody looks whose the names are that are to be taken. */
const OWNER_PATIENCE_MS = 250;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * The rounds of one pass: plan, begin what is new, wait until something is known that was not. A round begins when all actions of an object have ended or a piece of the
 * world has arrived, whatever else is still under way. So one slow action, or a provider that hangs, holds up nobody but its own object.
 */
export class Rounds {
  readonly context: ApplyContext;
  readonly failovers: number[] = [];
  /** What planning has cost, milliseconds. */
  planMs = 0;
  /** The world as it is known, what came of actions included. */
  observation: Observation;
  /** The world as it was shown to this pass, whatever came of actions. */
  seen: Observation;
  #remaining: Plan | undefined;
  #announced: Plan | undefined;
  readonly #deps: WriterDeps;
  readonly #options: PassOptions;
  readonly #looking: Looking;
  readonly #owners: OwnerLooks;
  /** Absent for a pass that sees nothing new while it waits. */
  readonly #dueLooks: DueLooks | undefined;
  readonly #scheduler: Scheduler;
  readonly #statuses: StatusWriter;
  readonly #tries: Tries;
  #hasGivenUp = false;
  #lastPlanMs = 0;
  /** When the last plan was made, monotonic milliseconds. */
  #plannedAtMs = 0;
  /** Aborted by a change of the cluster that no round has looked at. */
  #change: AbortSignal | undefined;
  /** When nodes were read last, or could not be, milliseconds of the API server's clock. */
  #judgedAtMs: number;

  constructor(deps: WriterDeps, options: PassOptions, { observation, stored, looking, pieces, ownerPieces }: Sight) {
    const { deadlineMs, signal, hurry, nextChange } = options;
    this.#deps = deps;
    this.#options = options;
    this.#change = hurry;
    this.#judgedAtMs = observation.nodesReadAtMs;
    this.#looking = looking;
    this.#owners = new OwnerLooks(looking, ownerPieces);
    const looksOn = nextChange !== undefined;
    this.#tries = new Tries(MOST_ROUNDS, looksOn);
    this.#dueLooks = looksOn && deps.reusable !== undefined ? new DueLooks(looking, deps.reusable, pieces) : undefined;
    deps.attempts?.look(stored);
    this.observation = this.#restrained(deps.attempts?.recall(observation) ?? observation);
    this.context = applyContext(deps, stored, {
      deadlineMs: deadlineMs - CLOSING_MS,
      signal,
      hurry,
      busyTries: deps.attempts?.busyTries,
      addressesOf: (source) => this.latest.providers.get(source)?.addresses ?? new Map(),
      firewallsOf: (provider) => this.latest.firewalls.get(provider)?.firewalls ?? new Map(),
    });
    this.#scheduler = new Scheduler(this.context);
    this.#statuses = new StatusWriter(this.context.stores, deps.attempts);
    this.#learn(looking.take());
    this.seen = this.observation;
  }

  /** What came of the actions, in the order they ended. */
  get outcomes(): readonly Outcome[] {
    return this.#tries.outcomes;
  }

  /** The newest plan: at the end, what remains. */
  get remaining(): Plan {
    return known(this.#remaining);
  }

  /** What is to be done in the world that was shown. */
  get announced(): Plan {
    return known(this.#announced);
  }

  /** Goes on until nothing is left that was not tried. */
  async run(): Promise<void> {
    await this.#plan({ mayBeUnsettled: true });
    this.#announced = this.remaining;
    this.seen = this.observation;
    await this.#learnOwners();
    const { saved, selection } = this.#options;
    if (saved !== undefined) {
      const announced = announceInSteps(this.remaining, this.observation, selection);
      saved.judge(this.observation, await inTurns(announced, this.context.clock));
    }
    do {
      while (this.#beginWhatIsNew()) {
        this.#statuses.write(this.#atRest(), this.outcomes.length);
        const { arrived, ended, isOvertaken, isRipe } = await this.#news();
        this.#learn(arrived, ended);
        await this.#plan({ mayBeUnsettled: isOvertaken || isRipe || arrived.length > 0 });
        if (arrived.length > 0) await this.#show(arrived);
      }
    } while (await this.#mayDoMoreOnceStored());
    await this.#giveUpWaiting();
    this.#looking.leave();
    this.#deps.reusable?.keep(this.observation, this.#looking);
  }

  /** Waits for the statuses that are on their way, and plans on what is stored then. Returns true where that lets something begin, such as the deletion of what another object has now taken over. */
  async #mayDoMoreOnceStored(): Promise<boolean> {
    if ((await this.#landed(0)) !== true) return false;
    this.#learn([]);
    await this.#plan({ mayBeUnsettled: false });
    return this.#toBegin().length > 0;
  }

  /** Plans as if providers that have not answered in all the time of a run had failed: so their objects say it. A process that watches waits on in its next pass. */
  async #giveUpWaiting(): Promise<void> {
    if (this.#options.hurry !== undefined || this.#looking.untaken.length === 0 || !isTimeOver(this.context)) return;
    this.#hasGivenUp = true;
    this.observation = withoutAwaited(this.observation);
    await this.#plan({ mayBeUnsettled: false });
  }

  /** The world with what has arrived and was not planned on, or came too late to be. */
  get latest(): Observation {
    return enterAll(this.observation, this.#looking.unentered);
  }

  /** Writes the statuses that are left to be written, all of them at once. @returns the failures of all that have ended, and of those that are not due again */
  async writeStatuses(): Promise<Pick<StatusWriter, "failures" | "refusedBefore">> {
    this.#statuses.write(this.#withStatusToTell(), this.outcomes.length);
    await this.#landed(ENDING_MS);
    return this.#statuses;
  }

  /** Leaves the statuses that are still on their way to whoever comes next. */
  leaveStatuses(): void {
    this.#statuses.leave(this.#deps.cluster.now());
  }

  /**
   * Waits for the statuses that are on their way. A pass of a watcher waits no longer than until something changes in the cluster, or a hold ends: an API server
   * that is slow with one status delays no recovery.
   *
   * @param endingMs - how long a run that is asked to end waits, milliseconds: another process may be waiting for the Lease
   * @returns true when a status was stored since it was last asked, false when none was, `late` when one is still on its way
   */
  async #landed(endingMs: number): Promise<boolean | "late"> {
    const { hurry, signal, deadlineMs } = this.#options;
    const { clock } = this.context;
    const landed =
      hurry === undefined
        ? this.#statuses.landed()
        : this.#statuses.landedBy(Math.min(this.#ripeAtMs(), deadlineMs), clock, this.#change);
    return await untilAfter(clock, endingMs, landed, signal);
  }

  /** Begins the actions that were not tried; false when nothing is left to wait for. */
  #beginWhatIsNew(): boolean {
    this.#lookForOwners();
    const actions = this.#toBegin();
    const reason = obstacle(this.context);
    if (reason === undefined) {
      for (const action of this.#scheduler.begin(this.remaining, actions)) this.#note(action);
    } else if (!this.#scheduler.isBusy) {
      this.#add(notBegun(actions, reason, this.#deps.cluster.now()));
      return false;
    }
    return this.#scheduler.isBusy || this.#awaitsPieces();
  }

  /** Waits a moment, before anything begins, until it is known whose the names are that are to be taken: then all of it is one plan. */
  async #learnOwners(): Promise<void> {
    const { clock } = this.context;
    this.#lookForOwners();
    const isAwaited = (): boolean => this.#looking.untaken.some(({ kind }) => kind === "owners");
    const dueMs = clock.monotonicMs() + OWNER_PATIENCE_MS;
    const arrived: Enter[] = [];
    while (isAwaited() && clock.monotonicMs() < dueMs && this.#awaitsPieces()) {
      await this.#somethingWithin(dueMs - clock.monotonicMs());
      arrived.push(...this.#looking.take());
    }
    if (arrived.length === 0) return;
    this.#learn(arrived);
    await this.#plan({ mayBeUnsettled: true });
    await this.#show(arrived);
  }

  /** Begins to look whose the names are that are to be taken. */
  #lookForOwners(): void {
    const { ownersWanted = [] } = this.remaining;
    if (ownersWanted.length > 0 && obstacle(this.context) === undefined) this.#owners.begin(ownersWanted);
  }

  /**
   * Looks at the cluster once more where it has changed while something is under way that may take long, and at its nodes where a time has come: they are judged as of when
   * they were read. Returns false where nothing is new, or cannot be read.
   */
  async #lookAgain(isRipe: boolean): Promise<boolean> {
    const { cluster } = this.#deps;
    const isOvertaken = this.#isOvertaken();
    if (isOvertaken) this.#change = this.#options.nextChange?.();
    else if (!isRipe) return false;
    this.#judgedAtMs = cluster.now();
    try {
      if (isOvertaken) this.#enterObjects(await readClusterAgain(this.#deps, this.observation.grants));
      else this.observation = { ...this.observation, ...(await readNodesAgain(cluster, this.observation)) };
      return true;
    } catch (error) {
      if (error instanceof KubeError) return false;
      throw error;
    }
  }

  /** Enters the cluster as it is now. New objects, and those that ask for something else than before, are looked at as if the pass began. */
  #enterObjects(now: ClusterNow): void {
    const { stores, cluster } = this.context;
    const isFinished = (object: Pool | RecordSet): boolean => stores.knows(object);
    const entered = (known: Observation): Observation => withObjectsNow(known, now, isFinished, cluster.now());
    const before = this.observation;
    const { nodes, nodesReadAtMs, pods, grants } = now;
    this.observation = { ...entered(before), nodes, nodesReadAtMs, pods, ...(grants === undefined ? {} : { grants }) };
    if (this.observation.pools === before.pools && this.observation.recordSets === before.recordSets) return;
    this.seen = entered(this.seen);
    stores.learn(now);
    this.observation = this.#dueLooks?.askMore(this.observation) ?? this.observation;
  }

  #isOvertaken(): boolean {
    return this.#change?.aborted === true && this.#options.nextChange !== undefined && this.#scheduler.isBusy;
  }

  /** The actions that were not tried, as far as they may be. */
  #toBegin(): readonly Action[] {
    const { attempts, cluster } = this.#deps;
    const mayTry = (action: Action): boolean => attempts?.mayTry(action, cluster.now()) !== false;
    const worthTrying = this.#tries.left(this.remaining.actions, cluster.now(), mayTry);
    const actions = worthTrying.filter((action) => this.#tries.mayBegin(action));
    const { saved } = this.#options;
    return saved === undefined ? actions : saved.allowed(actions, this.remaining);
  }

  #note(action: Action): void {
    this.#options.saved?.begin(action);
    this.#tries.begin(action, this.remaining);
    this.#options.restraint?.begin(action);
  }

  /** True while a piece of the world is there to be taken, or worth waiting for. */
  #awaitsPieces(): boolean {
    const { context } = this;
    const isPatient = !context.stopWaiting.aborted && obstacle(context) === undefined;
    return this.#looking.hasArrived || (isPatient && this.#looking.untaken.length > 0);
  }

  /** Waits until something is to be planned on, and a moment more for what comes with it. */
  async #news(): Promise<News> {
    const { clock } = this.context;
    const arrived: Enter[] = [];
    const ended: Outcome[] = [];
    let newsAtMs = NEVER;
    let overtakenAtMs = NEVER;
    const ripeAtMs = this.#ripeAtMs();
    for (;;) {
      arrived.push(...this.#looking.take());
      ended.push(...this.#scheduler.take());
      const hasMore = this.#takeMore();
      const nowMs = clock.monotonicMs();
      if (arrived.length + ended.length > 0 || hasMore) newsAtMs = Math.min(newsAtMs, nowMs);
      if (this.#isOvertaken()) overtakenAtMs = Math.min(overtakenAtMs, nowMs);
      const dueMs = Math.min(
        newsAtMs + this.#restMs(arrived, ended),
        overtakenAtMs + OVERTAKEN_MS + this.#lastPlanMs,
        ripeAtMs,
      );
      if (dueMs <= nowMs || !(this.#scheduler.isBusy || this.#awaitsPieces())) break;
      // What is to be learned comes first: what is due is told by all that is known.
      const dueLookInMs = newsAtMs === NEVER ? this.#lookAtWhatIsDue() : NEVER;
      await this.#somethingWithin(Math.min(dueMs - nowMs, dueLookInMs));
    }
    const isRipe = clock.monotonicMs() >= ripeAtMs;
    const isOvertaken = await this.#lookAgain(isRipe);
    arrived.push(...this.#looking.take());
    ended.push(...this.#scheduler.take());
    return { arrived, ended, isOvertaken, isRipe };
  }

  /** True where a status was stored that lets something be told, or an action is refused for a while, since it was last asked. */
  #takeMore(): boolean {
    const isRefused = this.#scheduler.takeRefusals();
    return this.#statuses.takeNews() || isRefused;
  }

  /** Begins to look at what is due at the providers. Returns after how long something else is, milliseconds. */
  #lookAtWhatIsDue(): number {
    const looks = this.#dueLooks;
    if (looks === undefined || obstacle(this.context) !== undefined) return NEVER;
    if (looks.nextInMs() === 0) this.observation = looks.begin(this.observation);
    return looks.nextInMs() ?? NEVER;
  }

  /** When the first hold of the plan ends, or nodes are judged otherwise, monotonic milliseconds: something may be done then, whatever else is waited for. Never in a single pass. */
  #ripeAtMs(): number {
    const { cluster, clock } = this.#deps;
    if (this.#options.nextChange === undefined) return NEVER;
    const { judgedUntilMs = NEVER } = this.remaining;
    const endMs = Math.min(
      firstEndMs(this.remaining) ?? NEVER,
      judgedUntilMs > this.#judgedAtMs ? judgedUntilMs : NEVER,
    );
    if (endMs === NEVER) return NEVER;
    const inMs = endMs - cluster.now();
    return Math.max(clock.monotonicMs() + inMs, this.#plannedAtMs + TOGETHER_PLANS * this.#lastPlanMs);
  }

  /** How long to wait for more before it is planned on, milliseconds. */
  #restMs(arrived: readonly Enter[], ended: readonly Outcome[]): number {
    const { atWork } = this.#scheduler;
    const isOpen = ({ action, outcome }: Outcome): boolean =>
      outcome !== "applied" && !atWork.has(refKey(action.object));
    const atOnceMs = Math.max(AT_ONCE_MS, this.#lastPlanMs);
    return arrived.length > 0 || ended.some(isOpen)
      ? atOnceMs
      : Math.max(TOGETHER_MS, TOGETHER_PLANS * this.#lastPlanMs);
  }

  /** Resolves when an action ends, a piece arrives, the cluster changes, nothing is worth waiting for any more, or after `ms`. */
  async #somethingWithin(ms: number): Promise<void> {
    const { clock, deadlineMs, stopWaiting } = this.context;
    const timer = new AbortController();
    const leftMs = deadlineMs - clock.monotonicMs();
    // What is in flight ends by itself: only for pieces is there anything to give up.
    const isPatient = this.#awaitsPieces();
    const limitMs = isPatient ? Math.min(ms, leftMs) : ms;
    const stop = isPatient ? AbortSignal.any([timer.signal, stopWaiting]) : timer.signal;
    const limit = limitMs === NEVER ? [] : [clock.sleep(limitMs, stop)];
    const change = this.#change === undefined ? [] : [aborted(this.#change, timer.signal)];
    await Promise.race([this.#scheduler.end, this.#statuses.end, this.#looking.arrival, ...limit, ...change]);
    timer.abort();
  }

  #learn(arrived: readonly Enter[], ended: readonly Outcome[] = []): void {
    const { cluster, clock, reusable } = this.#deps;
    const now = { nowMs: cluster.now(), wallMs: clock.wallMs() };
    const written = this.#statuses.takeWritten(this.outcomes);
    this.#add(ended);
    this.#options.saved?.learn(ended);
    for (const outcome of ended) {
      const by = this.#tries.planOf(outcome.action);
      if (by !== undefined) this.failovers.push(...failoverSeconds(by, [outcome]));
    }
    const entered = enterAll(this.observation, arrived);
    this.#looking.entered();
    if (arrived.length > 0) reusable?.keep(entered, this.#looking);
    for (const [name, { readAtMs }] of entered.providers) this.context.readAtMs.set(name, readAtMs);
    const current = this.context.stores.enterInto(entered, written, now.nowMs);
    this.observation = this.#restrained({
      ...fold(current, ended, now, this.#options.selection),
      observedAtMs: now.nowMs,
    });
    // What is left moving is to be looked at again.
    if (ended.some(({ outcome }) => outcome !== "applied")) reusable?.keep(this.observation, this.#looking);
    if (this.#dueLooks?.mayAskMore === true) this.observation = this.#dueLooks.begin(this.observation);
  }

  #add(outcomes: readonly Outcome[]): void {
    this.#tries.end(outcomes);
    for (const outcome of outcomes) this.#deps.attempts?.ended(outcome, this.#deps.cluster.now());
    const { onEnd } = this.#options;
    for (const outcome of outcomes) onEnd?.(outcome, this.#tries.planOf(outcome.action) ?? this.remaining);
  }

  /** The observation with what the run may still take from anybody. */
  #restrained(observation: Observation): Observation {
    const { restraint } = this.#options;
    return restraint === undefined ? observation : { ...observation, restraint: restraint.current };
  }

  /** Takes over what has arrived into what was shown. */
  async #show(arrived: readonly Enter[]): Promise<void> {
    const { settling } = this.observation;
    const seen = unsettled(enterAll(this.seen, arrived));
    this.seen = settling === undefined ? seen : { ...seen, settling };
    this.#announced = await inTurns(planInSteps(this.#settled(this.seen), this.#options.selection), this.context.clock);
  }

  /** The observation without what has just come back and never rests. */
  #settled(observation: Observation): Observation {
    const { attempts, clock } = this.#deps;
    return attempts?.settled(observation, clock.monotonicMs()) ?? observation;
  }

  /** Plans on what is known. What has just arrived may be about names that are to wait a moment. What ends or arrives meanwhile is for the next round. */
  async #plan({ mayBeUnsettled }: { readonly mayBeUnsettled: boolean }): Promise<void> {
    const { cluster, clock } = this.#deps;
    const { selection, settling } = this.#options;
    const startMs = clock.monotonicMs();
    const now = { nowMs: cluster.now(), wallMs: clock.wallMs() };
    const { open, refused } = this.#scheduler;
    // What was shown is older than that, and tells nothing new.
    this.#deps.attempts?.noteNodes(this.observation, startMs);
    const planned = (): Promise<Plan> =>
      inTurns(planInSteps(this.#settled(duringActions(this.observation, open, now, refused)), selection), clock);
    const isAsked = mayBeUnsettled && settling !== undefined;
    if (isAsked) this.observation = unsettled(this.observation);
    let made = await planned();
    const waiting = isAsked
      ? settling(made, { unread: this.#unreadRecordSets(), begun: this.#tries.objects })
      : new Map();
    if (waiting.size > 0) {
      this.observation = { ...this.observation, settling: waiting };
      made = await planned();
    }
    this.#plannedAtMs = clock.monotonicMs();
    this.#lastPlanMs = this.#plannedAtMs - startMs;
    this.planMs += this.#lastPlanMs;
    this.#remaining = made;
  }

  #unreadRecordSets(): ReadonlySet<string> {
    const unread = this.observation.recordSets.filter((recordSet) => this.#isUnread(recordSet));
    return new Set(unread.map(({ meta }) => refKey({ kind: "dns", ...meta })));
  }

  /** True while a piece of the world that an object asks for has not arrived. */
  #isUnread(object: Pool | RecordSet): boolean {
    return !this.#hasGivenUp && this.#looking.untaken.some((piece) => needs(object, piece, this.observation.registry));
  }

  /** The newest plan without objects that an action is under way for, or is still to be begun. */
  #atRest(): Plan {
    const told = this.#withStatusToTell();
    const left = this.#tries.left(this.remaining.actions, this.#deps.cluster.now());
    const toBegin = new Set(left.map(({ object }) => refKey(object)));
    const isAtRest = ({ object }: { readonly object: ObjectRef }): boolean =>
      !toBegin.has(refKey(object)) && !this.#scheduler.atWork.has(refKey(object));
    return { ...told, pools: told.pools.filter(isAtRest), recordSets: told.recordSets.filter(isAtRest) };
  }

  /** The newest plan with the statuses of which something can be said. */
  #withStatusToTell(): Plan {
    if (this.#looking.untaken.length === 0) return this.remaining;
    return withStatusToTell(this.remaining, this.outcomes, this.observation, (object) => this.#isUnread(object));
  }
}

/** A plan that has been made. @throws InternalError before that */
function known(made: Plan | undefined): Plan {
  if (made === undefined) throw new InternalError("Nothing is planned before a pass has begun its rounds.");
  return made;
}

/** What is known that no plan was made on. */
interface News {
  readonly arrived: readonly Enter[];
  readonly ended: readonly Outcome[];
  /** True when nodes and pods were looked at once more. */
  readonly isOvertaken: boolean;
  /** True when a hold of the plan has ended. */
  readonly isRipe: boolean;
}

/** The observation without what was to wait before. */
function unsettled({ settling: _before, ...observation }: Observation): Observation {
  return observation;
}
