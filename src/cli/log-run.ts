import { refKey } from "../model/action.ts";
import type { Hold } from "../model/plan.ts";
import { whyHeld } from "../model/reason.ts";
import type { PassResult } from "../model/run.ts";
import { categoryOf } from "../report/error-category.ts";
import { lastOutcomes } from "../report/last-outcomes.ts";
import { runSummary } from "../report/render-run.ts";
import { outcomeField } from "../report/run-document.ts";
import type { Session } from "./session.ts";
import { writeLine } from "./write.ts";

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
