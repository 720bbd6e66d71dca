import { refKey } from "../model/action.ts";
import type { Hold } from "../model/plan.ts";
import { whyHeld } from "../model/reason.ts";
import type { PassResult } from "../model/run.ts";
import { EXIT } from "../report/exit-code.ts";
import { lockedDocument } from "../report/json/document.ts";
import { outcomeField } from "../report/json/run.ts";
import { categoryOf } from "../report/text/errors.ts";
import { lastOutcomes, runSummary } from "../report/text/run.ts";
import { writeDocument, writeLine } from "./output.ts";
import type { ReconcileFlags } from "./program.ts";
import { isDocument, type Session } from "./session.ts";
import type { LockRequest } from "./wiring.ts";

/** Writes a run as JSON lines to stderr: one per action tried and one for the run, which is the only one when nothing was to do. */
export function logRun({ invocation, lines, verbosity }: Session, result: PassResult, exitCode: number): void {
  const { streams } = invocation;
  const { planID } = result.plan;
  for (const outcome of lastOutcomes(result.outcomes)) {
    const { message, object: _, ...fields } = outcomeField(outcome, result);
    const level = outcome.last.outcome === "failed" ? "error" : "info";
    const object = refKey(outcome.last.action.object);
    writeLine(streams, lines, level, String(message), { planID, object, ...fields });
  }
  for (const { object, what, error } of result.reportFailures) {
    const msg = `Could not write the ${what} of ${refKey(object)}: ${error.message}`;
    const reason = categoryOf(error) === "permission" ? "PermissionMissing" : "Failed";
    writeLine(streams, lines, "warn", msg, { planID, object: refKey(object), reason });
  }
  if (verbosity > 0) {
    for (const hold of result.remaining.holds) {
      const { object, subject, reason } = hold;
      const fields = { planID, object: refKey(object), subject, reason, outcome: "held" };
      writeLine(streams, lines, "info", heldMessage(hold), fields);
    }
  }
  const held = Map.groupBy(result.remaining.holds, ({ reason }) => reason);
  writeLine(streams, lines, exitCode === 0 ? "info" : "error", runSummary(result), {
    planID,
    exitCode,
    tried: result.outcomes.length,
    held: Object.fromEntries([...held].map(([reason, holds]) => [reason, holds.length])),
  });
}

function heldMessage(hold: Hold): string {
  return hold.subject === "" ? whyHeld(hold) : `${hold.subject}: ${whyHeld(hold)}`;
}

/** Returns how the flags want the Lease to be taken and kept. */
export function lockRequest(
  identity: string,
  flags: ReconcileFlags,
  onLocked: NonNullable<ReconcileFlags["onLocked"]>,
): LockRequest {
  return {
    identity,
    onLocked,
    durationMs: flags.leaseDuration,
    renewDeadlineMs: flags.renewDeadline,
    retryMs: flags.retryPeriod,
  };
}

/** Says that another run keeps the Lease, and that this one changed nothing. Returns the exit code. */
export async function reportLocked(session: Session, holder: string, flags: ReconcileFlags): Promise<number> {
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
