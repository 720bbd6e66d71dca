import { refKey } from "../model/action.ts";
import { ConfigError } from "../model/errors.ts";
import type { RunRestraint } from "../model/restraint.ts";
import type { PassResult, Selection } from "../model/run.ts";
import { Interrupted } from "../observe/interrupt.ts";
import type { Clock } from "../ports/system.ts";
import { runDocument } from "../report/json/run.ts";
import { renderRun } from "../report/text/run.ts";
import { resolveConfig } from "./config.ts";
import { confirmed, mayAsk, restraintOfRun } from "./confirm.ts";
import { given } from "./environment.ts";
import type { ReconcileFlags } from "./flags.ts";
import { isDocument, writeLine, writeResult } from "./output.ts";
import { pushFailure, pushRun, pushTarget } from "./push.ts";
import { exitCodeOfEnd, logRun, reportLocked, runRequest } from "./run.ts";
import { nothingSelected, resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import { objectTargets, type Target } from "./target.ts";
import type { ReconcileAnswer, Wiring } from "./wiring.ts";

/** Runs `reconcile`: takes the lock, passes, prints what came of it, pushes metrics. Returns the exit code, which no push changes. */
export async function runReconcile(session: Session, names: readonly string[], flags: ReconcileFlags): Promise<number> {
  if (flags.watch === true) return (await import("./watch.ts")).runWatch(session, names, flags);
  refuseWatchFlags(flags);
  const targets = objectTargets(names, "reconcile");
  const target = pushTarget(flags, session.env, session);
  const wiring = await session.loadWiring();
  const pushing = target === undefined ? undefined : { target, clock: wiring.clock };
  try {
    const { answer, selection, ...done } = await runs(session, wiring, targets, flags);
    if (answer.kind === "locked") return await lockedOut(session, answer.holder, flags);
    const exitCode = await printEnd(session, { ...done, last: answer.value }, flags);
    if (pushing !== undefined && answer.noted !== undefined) await pushRun(session, pushing, answer.noted, selection);
    return exitCode;
  } catch (error) {
    if (pushing !== undefined && targets.length === 0 && isOfTheRun(error)) await pushFailure(session, pushing, error);
    throw error;
  }
}

/** Prints what is not printed yet. Returns the exit code. */
async function printEnd(
  session: Session,
  { total, last, isPrinted }: Pick<Runs, "total" | "isPrinted"> & { readonly last: PassResult },
  { partial }: ReconcileFlags,
): Promise<number> {
  const result = total ?? last;
  const exitCode = exitCodeOfEnd(result, { signal: session.signal, partialOk: partial === "ok" });
  if (isPrinted !== true || isDocument(session.output)) await printRun(session, result, exitCode);
  return exitCode;
}

function lockedOut(session: Session, holder: string, flags: ReconcileFlags): Promise<number> {
  if (session.signal.aborted) throw new Interrupted();
  return reportLocked(session, holder, flags);
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
  targets: readonly Target[],
  flags: ReconcileFlags,
): Promise<Runs> {
  let restraint = restraintOfRun(session, flags);
  let total: PassResult | undefined;
  for (;;) {
    const ran = await reconcile(session, wiring, { targets, restraint }, flags);
    if (ran.answer.kind === "locked") return { ...ran, total };
    const result = ran.answer.value;
    total = isDocument(session.output) ? together(total, result) : result;
    if (restraint === undefined || !mayAsk(session, result)) return { ...ran, total };
    if (!isDocument(session.output))
      await printRun(session, result, exitCodeOfEnd(result, { signal: session.signal, partialOk: true }));
    restraint = await confirmed(session, result, restraint, ran.where);
    if (restraint === undefined) return { ...ran, total, isPrinted: true };
  }
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

/** False for what a person did: a signal, a wrong command line. */
function isOfTheRun(error: unknown): boolean {
  return !(error instanceof Interrupted || (error instanceof ConfigError && error.kind === "usage"));
}

interface Ran {
  readonly answer: ReconcileAnswer;
  readonly selection: Selection;
  /** Which cluster it was, for people. */
  readonly where: string;
}

async function reconcile(
  session: Session,
  { clock, withReconciler }: Wiring,
  { targets, restraint }: { readonly targets: readonly Target[]; readonly restraint: RunRestraint | undefined },
  flags: ReconcileFlags,
): Promise<Ran> {
  const deadlineMs = clock.monotonicMs() + flags.timeout;
  const stopProgress = startProgress(session, clock, flags.timeout);
  const run = withReconciler(resolveConfig(flags, session.env, session), deadlineMs, async (reconciler) => {
    const selection = await resolveSelection(targets, flags, reconciler.cluster);
    const none = await nothingSelected(selection, reconciler.cluster);
    if (none !== undefined) writeLine(session, "warn", none);
    const answer = await reconciler.reconcile({
      ...runRequest(session, flags, selection, "fail"),
      deadlineMs,
      settle: flags.settle ?? false,
      ...given({ restraint }),
    });
    return { answer, selection, where: reconciler.where };
  });
  return run.finally(stopProgress);
}

async function printRun(session: Session, result: PassResult, exitCode: number): Promise<void> {
  const { output, verbosity, lines, layout } = session;
  if (lines.format === "json") logRun(session, result, exitCode);
  await writeResult(session, output, {
    document: () => runDocument(result, exitCode),
    names: () => result.outcomes.map(({ action }) => refKey(action.object)),
    text: () => (lines.format === "json" ? "" : renderRun(result, { ...layout, verbosity, all: false })),
  });
}

const TICK_MS = 10_000;

/** Says every ten seconds that a run is still working, as a line of text on stderr; never as JSON. Returns what ends it. */
function startProgress(session: Session, clock: Clock, limitMs: number): () => void {
  const { lines } = session;
  const ending = new AbortController();
  if (lines.format === "text" && !lines.isQuiet) void tick();
  return () => ending.abort();

  async function tick(): Promise<void> {
    const startMs = clock.monotonicMs();
    for (;;) {
      await clock.sleep(TICK_MS, ending.signal);
      if (ending.signal.aborted) return;
      const seconds = Math.round((clock.monotonicMs() - startMs) / 1000);
      const msg = `still working after ${seconds}s of at most ${Math.round(limitMs / 1000)}s`;
      writeLine(session, "info", msg);
    }
  }
}
