import { refKey } from "../model/action.ts";
import { ConfigError } from "../model/errors.ts";
import { LAST_RESULT_ANNOTATION } from "../model/lease-annotations.ts";
import type { Notice } from "../model/notice.ts";
import { NOT_BEGUN, RunRestraint } from "../model/restraint.ts";
import type { PassResult, Selection } from "../model/run.ts";
import type { SavedPlan } from "../model/saved-plan.ts";
import { Interrupted } from "../observe/interrupt.ts";
import type { Clock } from "../ports/system.ts";
import { exitCodeOfError } from "../report/exit-code.ts";
import { aboveQuestion } from "../report/held-for.ts";
import { runDocument } from "../report/json/run.ts";
import { failedRun, failedWith } from "../report/notices.ts";
import { renderRun } from "../report/text/run.ts";
import { SavedApplication } from "../saved/application.ts";
import { resolveConfig } from "./config.ts";
import { confirmed, mayAsk, restraintOfRun } from "./confirm.ts";
import { given } from "./environment.ts";
import { LiveRun } from "./live-run.ts";
import { isOfTheRun, Notifier } from "./notify.ts";
import { isDocument, writeLine, writeResult } from "./output.ts";
import { type Pushing, pushFailure, pushRun, pushTarget } from "./push.ts";
import type { ReconcileFlags } from "./reconcile-flags.ts";
import { exitCodeOfEnd, logRun, refuseLockFlags, reportLocked, runRequest } from "./run.ts";
import { readSaved, refuseBesidePlan, refuseOtherShard, reportUnusable, whyUnusable } from "./saved-plan.ts";
import { everyObject, nothingOfShard, nothingSelected, resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import { objectTargets, type Target } from "./target.ts";
import { sayingUnchanged } from "./unchanged.ts";
import type { NotedRun, ReconcileAnswer, Wiring } from "./wiring.ts";

/** Runs `reconcile`: takes the lock, passes, prints what came of it, pushes metrics. Returns the exit code, which no push changes. */
export async function runReconcile(session: Session, names: readonly string[], flags: ReconcileFlags): Promise<number> {
  refuseBesidePlan(flags, names);
  refuseLockFlags(flags);
  const isWatching = flags.watch === true;
  if (!isWatching) refuseWatchFlags(flags);
  return await sayingUnchanged(session, async (begin) => {
    const run = isWatching ? (await import("./watch.ts")).runWatch : runOnce;
    return await run(session, names, flags, begin);
  });
}

/** @param begin - called once something may have been changed */
async function runOnce(
  session: Session,
  names: readonly string[],
  flags: ReconcileFlags,
  begin: () => void,
): Promise<number> {
  const targets = objectTargets(names, "reconcile");
  const saved = flags.plan === undefined ? undefined : await readSaved(flags.plan);
  if (saved !== undefined) refuseOtherShard(saved, flags);
  const audience = new Audience(session, flags);
  const wiring = await session.loadWiring();
  try {
    const { answer, selection, ...done } = await runs(session, wiring, { targets, saved, audience, begin }, flags);
    if (answer.kind === "unusable") return await reportUnusable(session, answer.why);
    if (answer.kind === "locked") return await lockedOut(session, answer, flags);
    const exitCode = await printEnd(session, { ...done, last: answer.value }, flags);
    audience.ended(answer.value, answer.noted, selection);
    return exitCode;
  } catch (error) {
    if (isOfTheRun(error)) audience.failed(error, targets.length === 0);
    throw error;
  } finally {
    await audience.tell(wiring.clock);
  }
}

/** Who is told of a command beside its output, and what: the Pushgateway of the last run, receivers of all of them. What they are told is sent once, at the end, and changes nothing. */
class Audience {
  readonly #session: Session;
  readonly #target: Pushing["target"] | undefined;
  readonly #notifier: Notifier | undefined;
  readonly #notices: Notice[] = [];
  #cluster: string | undefined;
  #push: (pushing: Pushing) => Promise<void> = async () => undefined;

  /** @throws ConfigError when something cannot be sent anywhere at all */
  constructor(session: Session, flags: ReconcileFlags) {
    this.#session = session;
    this.#target = pushTarget(flags, session.env, session);
    this.#notifier = Notifier.create(session, flags);
  }

  /** One of the runs has passed. */
  passed({ notices = [], plan }: PassResult): void {
    this.#notices.push(...notices);
    this.#cluster = plan.cluster;
  }

  /** The last run came to its end. */
  ended(result: PassResult, noted: NotedRun | undefined, selection: Selection): void {
    const { signal, wallMs } = this.#session;
    const exitCode = exitCodeOfEnd(result, { signal, partialOk: false });
    const lastResult = noted?.end.notes[LAST_RESULT_ANNOTATION] ?? "";
    const atMs = noted?.end.endedAtMs ?? wallMs();
    this.#notices.push(...failedRun(result, { exitCode, lastResult, atMs }));
    if (noted !== undefined) this.#push = (pushing) => pushRun(this.#session, pushing, noted, selection);
  }

  /** The last run ended with an error. Who names an object that is not there is told so on the terminal. */
  failed(error: unknown, isWhole: boolean): void {
    const failure = failedWith(error, { exitCode: exitCodeOfError(error), atMs: this.#session.wallMs() });
    if (isWhole || !(error instanceof ConfigError)) this.#notices.push(failure);
    if (isWhole) this.#push = (pushing) => pushFailure(this.#session, pushing, error);
  }

  async tell(clock: Clock): Promise<void> {
    const [target, cluster] = [this.#target, this.#cluster];
    await Promise.all([
      target === undefined ? undefined : this.#push({ target, clock }),
      this.#notifier?.tell(this.#notices, { cluster, clock }),
    ]);
  }
}

/** Prints what is not printed yet. Returns the exit code. */
async function printEnd(
  session: Session,
  { total, last, isPrinted, live }: Pick<Runs, "total" | "isPrinted" | "live"> & { readonly last: PassResult },
  { partial }: ReconcileFlags,
): Promise<number> {
  const result = total ?? last;
  const exitCode = exitCodeOfEnd(result, { signal: session.signal, partialOk: partial === "ok" });
  if (isPrinted !== true || isDocument(session.output))
    await printRun(session, result, { exitCode, ...given({ live }) });
  return exitCode;
}

function lockedOut(
  session: Session,
  answer: Extract<ReconcileAnswer, { readonly kind: "locked" }>,
  flags: ReconcileFlags,
): Promise<number> {
  if (session.signal.aborted) throw new Interrupted();
  return reportLocked(session, answer, flags);
}

/** The last of the runs of a command; `total` tells of all of them. */
interface Runs extends Ran {
  readonly total: PassResult | undefined;
  /** True where the last run was printed before the question. */
  readonly isPrinted?: true;
}

/** Runs, and runs again with what a person has confirmed, until nothing is left to ask. What each run but the last did is printed before the question. */
async function runs(
  session: Session,
  wiring: Wiring,
  wanted: Wanted & { readonly audience: Audience },
  flags: ReconcileFlags,
): Promise<Runs> {
  let restraint = restraintFor(session, wanted, flags);
  let total: PassResult | undefined;
  for (;;) {
    const ran = await reconcile(session, wiring, { ...wanted, restraint }, flags);
    if (ran.answer.kind !== "done") return { ...ran, total };
    const result = ran.answer.value;
    wanted.audience.passed(result);
    total = isDocument(session.output) ? together(total, result) : result;
    if (restraint === undefined || !mayAsk(session, result)) return { ...ran, total };
    if (!isDocument(session.output))
      await printRun(session, aboveQuestion(result), {
        exitCode: exitCodeOfEnd(result, { signal: session.signal, partialOk: true }),
        ...given({ live: ran.live }),
      });
    restraint = await confirmed(session, result, restraint, ran.where);
    if (restraint === undefined) return { ...ran, total, isPrinted: true };
  }
}

/** What stands in a saved plan was confirmed when it was saved; its limits count again. */
function restraintFor(session: Session, { saved }: Wanted, flags: ReconcileFlags): RunRestraint | undefined {
  if (saved === undefined) return restraintOfRun(session, flags);
  return Object.keys(saved.limits).length === 0
    ? undefined
    : new RunRestraint({ limits: saved.limits, begun: NOT_BEGUN });
}

/** What runs with a question between them did: planned first, done in all of them, left after the last. */
function together(before: PassResult | undefined, after: PassResult): PassResult {
  if (before === undefined) return after;
  return { ...after, plan: before.plan, outcomes: [...before.outcomes, ...after.outcomes] };
}

/** A port that is never opened would be missed by whoever asks it, and so would the second look. */
function refuseWatchFlags({ metricsAddr, interval }: ReconcileFlags): void {
  if (metricsAddr !== undefined)
    throw new ConfigError(
      "usage",
      "--metrics-addr needs --watch: a single run serves nothing. Use --pushgateway for it.",
    );
  if (interval !== undefined)
    throw new ConfigError("usage", "--interval needs --watch: a single run looks once. Add --watch, or leave it out.");
}

/** What is to be reconciled: targets, or a saved plan. */
interface Wanted {
  readonly targets: readonly Target[];
  readonly saved: SavedPlan | undefined;
  /** Called once something may have been changed. */
  readonly begin: () => void;
}

interface Ran {
  /** `unusable`: the saved plan may not be carried out here and now. */
  readonly answer: ReconcileAnswer | { readonly kind: "unusable"; readonly why: string };
  readonly selection: Selection;
  /** Which cluster it was, for people. */
  readonly where: string;
  /** What has printed outcomes while it ran. Absent = none are printed yet. */
  readonly live?: LiveRun;
}

async function reconcile(
  session: Session,
  { clock, withReconciler }: Wiring,
  { targets, saved, begin, restraint }: Wanted & { readonly restraint: RunRestraint | undefined },
  flags: ReconcileFlags,
): Promise<Ran> {
  const deadlineMs = clock.monotonicMs() + flags.timeout;
  const live = LiveRun.isWanted(session) ? new LiveRun(session) : undefined;
  return withReconciler(resolveConfig(flags, session.env, session), deadlineMs, async (reconciler) => {
    const { cluster, where } = reconciler;
    const selection = saved?.selection ?? (await resolveSelection(targets, flags, cluster));
    const why = saved === undefined ? undefined : await whyUnusable(saved, cluster, flags.maxAge);
    if (why !== undefined) return { answer: { kind: "unusable", why }, selection, where };
    const none = await nothingSelected(selection, cluster);
    if (none !== undefined) writeLine(session, "warn", none);
    const answer = await reconciler.reconcile({
      ...runRequest(session, flags, selection, "fail"),
      deadlineMs,
      settle: flags.settle ?? false,
      ...given({ restraint, saved: applicationOf(saved, flags) }),
      onEnd: (...told) => {
        begin();
        live?.print(...told);
      },
    });
    if (answer.kind === "done") begin();
    if (targets.length > 0) await tellWhose(session, cluster, selection, answer);
    return { answer, selection, where, ...given({ live }) };
  });
}

function applicationOf(saved: SavedPlan | undefined, { allOrNothing }: ReconcileFlags): SavedApplication | undefined {
  return saved === undefined ? undefined : new SavedApplication(saved, { isAllOrNothing: allOrNothing === true });
}

/**
 * Where a run came to no object, says that none of those that were named is of this process, and whose they are.
 * It asks for lists only then. It never fails.
 */
async function tellWhose(
  session: Session,
  cluster: Parameters<typeof everyObject>[0],
  selection: Selection,
  answer: ReconcileAnswer,
): Promise<void> {
  if (answer.kind !== "done") return;
  const { pools, recordSets } = answer.value.plan;
  if (pools.length + recordSets.length > 0) return;
  const all = await everyObject(cluster).catch(() => []);
  const none = nothingOfShard(
    selection,
    all.map(({ ref, meta }) => ({ kind: ref.kind, meta })),
  );
  if (none !== undefined) writeLine(session, "warn", none);
}

async function printRun(
  session: Session,
  result: PassResult,
  { exitCode, live }: { readonly exitCode: number } & Pick<Ran, "live">,
): Promise<void> {
  const { output, verbosity, lines, layout } = session;
  if (lines.format === "json") logRun(session, result, exitCode);
  await writeResult(session, output, {
    document: () => runDocument(result, exitCode),
    names: () => result.outcomes.map(({ action }) => refKey(action.object)),
    text: () =>
      lines.format === "json"
        ? ""
        : renderRun(result, { ...layout, verbosity, all: false, ...given({ untold: live?.end(result) }) }),
  });
}
