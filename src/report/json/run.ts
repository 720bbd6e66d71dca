import { subjectOf } from "../../model/action.ts";
import type { Plan, PoolAssessment } from "../../model/plan.ts";
import type { PassResult, SavedRun } from "../../model/run.ts";
import { plain } from "../../model/text.ts";
import { timestamp } from "../../model/time.ts";
import { categoryOf, messageOf } from "../text/errors.ts";
import { type LastOutcome, lastOutcomes, outcomeLine, runSummary, whyOutcome } from "../text/run.ts";
import { rfc3339 } from "../text/times.ts";
import { toldPool } from "../told-pool.ts";
import { API_VERSION, type JSONObject } from "./document.ts";
import { actionField, holdField, objectField, planFields } from "./plan.ts";

/** Returns the document `RunResult`: the plan, what came of it, what remains and the exit code. Schema: `schema/run-result.json`. */
export function runDocument(result: PassResult, exitCode: number): JSONObject {
  const { remaining } = result;
  return {
    apiVersion: API_VERSION,
    kind: "RunResult",
    ...planFields(result.plan),
    result: plain(runSummary(result)),
    outcomes: lastOutcomes(result.outcomes).map((outcome) =>
      outcomeField(outcome, toldPool(outcome.last.action.object, result.plan, remaining)),
    ),
    remaining: {
      actions: remaining.actions.map((action) => actionField(action, remaining.pools)),
      holds: remaining.holds.map((hold) => holdField(hold, remaining.observedAtMs)),
    },
    reportFailures: result.reportFailures.map(({ object, what, error }) => ({
      object: objectField(object),
      what,
      error: errorField(error),
    })),
    wasInterrupted: result.wasInterrupted,
    ...(result.saved === undefined ? {} : { saved: savedField(result.saved, result.plan) }),
    exitCode,
  };
}

/** Returns one outcome as documents and log lines carry it; `reason` and `detail` say why it was skipped. `pool` is that of {@link toldPool}. */
export function outcomeField(
  { last, attempts }: Pick<LastOutcome, "last" | "attempts">,
  pool: PoolAssessment | undefined,
): JSONObject {
  const { action } = last;
  return {
    kind: action.kind,
    object: objectField(action.object),
    subject: last.address?.ip ?? subjectOf(action),
    outcome: last.outcome,
    reason: last.outcome === "skipped" ? last.reason : action.reason,
    message: plain(`${outcomeLine(last)}: ${whyOutcome(last, pool, 0)}`),
    attempts,
    ms: Math.round(last.ms),
    endedAt: last.endedAtMs === undefined ? undefined : timestamp(last.endedAtMs),
    error: last.outcome === "failed" ? errorField(last.error) : undefined,
    precondition: last.outcome === "skipped" && last.refusedFor !== undefined ? { ...last.refusedFor } : undefined,
  };
}

function savedField({ planID, savedAtMs, count, done, others }: SavedRun, { pools }: Plan): JSONObject {
  return {
    planId: planID,
    savedAt: rfc3339(savedAtMs),
    actions: count,
    done: done.map((action) => actionField(action, pools)),
    notInPlan: others.map((action) => actionField(action, pools)),
  };
}

/** Returns an error as documents carry it. */
function errorField(error: Error): JSONObject {
  const requestID = "requestID" in error && typeof error.requestID === "string" ? error.requestID : undefined;
  return { category: categoryOf(error), message: messageOf(error), requestId: requestID };
}
