import { refKey } from "../model/action.ts";
import type { PassResult } from "../model/run.ts";
import { lockedDocument } from "../report/error-document.ts";
import { EXIT, exitCodeOfRun } from "../report/exit-code.ts";
import { renderRun } from "../report/render-run.ts";
import { runDocument } from "../report/run-document.ts";
import type { LockRequest } from "./backend.ts";
import { resolveConfig } from "./config.ts";
import type { ReconcileFlags } from "./flags.ts";
import { Interrupted } from "./interrupt.ts";
import { lastRunAnnotations } from "./last-run.ts";
import { logRun } from "./log-run.ts";
import { startProgress } from "./progress.ts";
import { selectionFlags } from "./run-plan.ts";
import { resolveSelection } from "./selection.ts";
import { isDocument, type Session } from "./session.ts";
import { objectTargets } from "./target.ts";
import { writeDocument, writeLine, writeText } from "./write.ts";

/** Runs `reconcile`: takes the lock, passes, prints what came of it. Returns the exit code. */
export async function runReconcile(session: Session, names: readonly string[], flags: ReconcileFlags): Promise<number> {
  const { invocation } = session;
  const targets = objectTargets(names, "reconcile");
  const backend = await invocation.loadBackend();
  const deadlineMs = backend.clock.monotonicMs() + flags.timeout;
  const stopProgress = startProgress(session, backend.clock, flags.timeout);
  try {
    const answer = await backend.withReconcileWorld(resolveConfig(flags, invocation.env), async (world) =>
      world.reconcile({
        selection: await resolveSelection(selectionFlags(targets, flags), world.cluster),
        deadlineMs,
        settle: flags.settle ?? false,
        signal: invocation.signal,
        ...(flags.lock ? { lock: lockRequest(invocation.identity, flags) } : {}),
        annotate: (result, nowMs) => lastRunAnnotations(exitCodeOfRun(result, { partialOk: false }), nowMs),
      }),
    );
    stopProgress();
    if (answer.kind === "locked" && invocation.signal.aborted) throw new Interrupted();
    if (answer.kind === "locked") return await reportLocked(session, answer.holder, flags);
    const exitCode = exitCodeOfRun(answer.value, { partialOk: flags.partial === "ok" });
    await printRun(session, answer.value, exitCode);
    return exitCode;
  } finally {
    stopProgress();
  }
}

function lockRequest(identity: string, flags: ReconcileFlags): LockRequest {
  return {
    identity,
    onLocked: flags.onLocked,
    durationMs: flags.leaseDuration,
    renewDeadlineMs: flags.renewDeadline,
    retryMs: flags.retryPeriod,
  };
}

async function reportLocked(session: Session, holder: string, flags: ReconcileFlags): Promise<number> {
  const { invocation, lines, output } = session;
  const who = holder === "" ? "someone else" : holder;
  const lease = `${flags.leaseNamespace}/${flags.leaseName}`;
  const isSkip = flags.onLocked === "skip";
  const what = `Another run works now: ${who} holds the Lease ${lease}. This one changed nothing.`;
  const message = isSkip ? what : `${what} Wait for it to end, or pass --on-locked wait or skip.`;
  const exitCode = isSkip ? EXIT.done : EXIT.locked;
  writeLine(invocation.streams, lines, isSkip ? "info" : "error", message, { reason: "Locked", exitCode });
  if (isDocument(output)) await writeDocument(invocation.streams, lockedDocument(message, exitCode), output);
  return exitCode;
}

async function printRun(session: Session, result: PassResult, exitCode: number): Promise<void> {
  const { invocation, output, palette, width, verbosity, lines } = session;
  const { streams } = invocation;
  if (lines.format === "json") logRun(session, result, exitCode);
  if (isDocument(output)) return writeDocument(streams, runDocument(result, exitCode), output);
  if (output === "name") {
    const names = new Set(result.outcomes.map(({ action }) => refKey(action.object)));
    return writeText(streams, [...names].map((name) => `${name}\n`).join(""));
  }
  if (lines.format === "json") return;
  const layout = { palette, verbosity, all: false, wide: output === "wide", ...(width === undefined ? {} : { width }) };
  writeText(streams, renderRun(result, layout));
}
