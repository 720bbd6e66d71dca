import type { PoolAssessment } from "../model/plan.ts";
import { reasonText } from "../model/reason.ts";
import type { Outcome } from "../model/run.ts";
import { actionObject, actionText, changeInBrackets, VERBS, whyAction } from "./action-message.ts";
import { errorText, type Verbosity } from "./error-text.ts";
import type { LastOutcome } from "./last-outcomes.ts";
import { entryLines } from "./layout.ts";
import { changeAndReason, type PlanLayout, symbolOf } from "./plan-entry.ts";

/** Returns `moved 203.0.113.1 from worker-1 to worker-2`, or what did not work: `could not move …`, `did not move …`. */
export function outcomeText(outcome: Outcome): string {
  const { action } = outcome;
  const what = actionObject(action, outcome.address?.ip);
  switch (outcome.outcome) {
    case "applied":
      return `${VERBS[action.kind].past} ${what}`;
    case "unconfirmed":
      return `asked to ${actionText(action)}`;
    case "skipped":
      return `did not ${actionText(action)}`;
    case "failed":
      return `could not ${actionText(action)}`;
  }
}

/** Returns {@link outcomeText} with, for DNS, what became of each address: for lines that stand alone. */
export function outcomeLine(outcome: Outcome): string {
  return `${outcomeText(outcome)}${changeInBrackets(outcome.action)}`;
}

/** Returns why an outcome is as it is: the action's reason, the error, or what the next run does about it. */
export function whyOutcome(outcome: Outcome, pool: PoolAssessment | undefined, verbosity: Verbosity): string {
  switch (outcome.outcome) {
    case "applied":
      return whyAction(outcome.action, pool);
    case "unconfirmed":
      return "Accepted, and not seen to be true yet. The next run looks again.";
    case "skipped":
      return outcome.detail || reasonText(outcome.reason, outcome.action.object.kind);
    case "failed":
      return errorText(outcome.error, verbosity);
  }
}

const SYMBOLS = { unconfirmed: "?", skipped: ".", failed: "!" } as const;

/** Returns the lines about one action that was tried. */
export function outcomeLines(
  { last, attempts }: LastOutcome,
  pool: PoolAssessment | undefined,
  layout: PlanLayout & { readonly verbosity: Verbosity },
): string[] {
  const { action } = last;
  const symbol = last.outcome === "applied" ? symbolOf(action) : SYMBOLS[last.outcome];
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  const took = last.outcome === "skipped" ? "" : ` (${(last.ms / 1000).toFixed(1)} s${tries})`;
  const why = changeAndReason(action, whyOutcome(last, pool, layout.verbosity), layout);
  return entryLines(symbol, outcomeText(last) + took, why, layout);
}
