import { refKey } from "../model/action.ts";
import { ConfigError } from "../model/errors.ts";
import type { PassResult, Selection } from "../model/run.ts";
import { Interrupted } from "../observe/interrupt.ts";
import type { Clock } from "../ports/system.ts";
import { runDocument } from "../report/json/run.ts";
import { renderRun } from "../report/text/run.ts";
import { resolveConfig } from "./config.ts";
import { writeDocument, writeLine, writeLines, writeText } from "./output.ts";
import { selectionFlags } from "./plan.ts";
import type { ReconcileFlags } from "./program.ts";
import { exitCodeOfEnd, pushFailure, pushRun, pushTarget, runNotes } from "./push.ts";
import { lockRequest, logRun, reportLocked } from "./run-log.ts";
import { nothingSelected, objectTargets, resolveSelection, type Target } from "./selection.ts";
import { isDocument, type Session } from "./session.ts";
import type { Backend, ReconcileAnswer } from "./wiring.ts";

/** Runs `reconcile`: takes the lock, passes, prints what came of it, pushes metrics. Returns the exit code, which no push changes. */
export async function runReconcile(session: Session, names: readonly string[], flags: ReconcileFlags): Promise<number> {
  if (flags.watch === true) return (await import("./watch.ts")).runWatch(session, names, flags);
  refuseWatchFlags(flags);
  const { invocation } = session;
  const targets = objectTargets(names, "reconcile");
  const target = pushTarget(flags, invocation.env, session);
  const backend = await invocation.loadBackend();
  const pushing = target === undefined ? undefined : { target, clock: backend.clock };
  const stopProgress = startProgress(session, backend.clock, flags.timeout);
  try {
    const { answer, selection } = await reconcile(session, backend, targets, flags);
    stopProgress();
    if (answer.kind === "locked" && invocation.signal.aborted) throw new Interrupted();
    if (answer.kind === "locked") return await reportLocked(session, answer.holder, flags);
    const { signal } = invocation;
    const exitCode = exitCodeOfEnd(answer.value, { signal, partialOk: flags.partial === "ok" });
    await printRun(session, answer.value, exitCode);
    if (pushing !== undefined && answer.noted !== undefined) await pushRun(session, pushing, answer.noted, selection);
    return exitCode;
  } catch (error) {
    if (pushing !== undefined && targets.length === 0 && isOfTheRun(error)) await pushFailure(session, pushing, error);
    throw error;
  } finally {
    stopProgress();
  }
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

async function reconcile(
  session: Session,
  backend: Backend,
  targets: readonly Target[],
  flags: ReconcileFlags,
): Promise<{ readonly answer: ReconcileAnswer; readonly selection: Selection }> {
  const { invocation, lines } = session;
  const deadlineMs = backend.clock.monotonicMs() + flags.timeout;
  return backend.withReconcileWorld(resolveConfig(flags, invocation.env, session), deadlineMs, async (world) => {
    const selection = await resolveSelection(selectionFlags(targets, flags), world.cluster);
    const none = await nothingSelected(selection, world.cluster);
    if (none !== undefined) writeLine(invocation.streams, lines, "warn", none);
    const answer = await world.reconcile({
      selection,
      deadlineMs,
      settle: flags.settle ?? false,
      signal: invocation.signal,
      ...(flags.lock ? { lock: lockRequest(invocation.identity, flags, flags.onLocked ?? "fail") } : {}),
      annotate: (end) => runNotes(end, selection, invocation.signal),
    });
    return { answer, selection };
  });
}

async function printRun(session: Session, result: PassResult, exitCode: number): Promise<void> {
  const { invocation, output, palette, width, verbosity, lines } = session;
  const { streams } = invocation;
  if (lines.format === "json") logRun(session, result, exitCode);
  if (isDocument(output)) return writeDocument(streams, runDocument(result, exitCode), output);
  if (output === "name") {
    const names = new Set(result.outcomes.map(({ action }) => refKey(action.object)));
    return writeLines(streams, [...names]);
  }
  if (lines.format === "json") return;
  const layout = { palette, verbosity, all: false, wide: output === "wide", ...(width === undefined ? {} : { width }) };
  writeText(streams, renderRun(result, layout));
}

const TICK_MS = 10_000;

/** Says every ten seconds that a run is still working, as a line of text on stderr; never as JSON. Returns what ends it. */
export function startProgress({ invocation, lines }: Session, clock: Clock, limitMs: number): () => void {
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
      writeLine(invocation.streams, lines, "info", msg);
    }
  }
}
