import { refKey } from "../model/action.ts";
import type { Hold, Plan } from "../model/plan.ts";
import type { PassResult } from "../model/run.ts";
import { plain } from "../model/text.ts";
import { messageOf } from "./error-text.ts";
import { holdText, whyHold } from "./hold-message.ts";
import { lastOutcomes } from "./last-outcomes.ts";
import { outcomeLine, whyOutcome } from "./outcome-lines.ts";

/** One line about a pass, without its time. */
export interface WatchLine {
  readonly level: "info" | "warn" | "error";
  readonly object: string;
  readonly text: string;
}

/**
 * Returns what a pass has to tell, a line per change: what was tried and what came of it, statuses that could not be written, and what is held now and was not after the
 * pass before, with the time when it is due. Nothing when nothing is new. Pure.
 */
export function watchLines(result: PassResult, before: Plan | undefined): readonly WatchLine[] {
  const { outcomes, remaining, reportFailures, plan } = result;
  const told = new Set((before?.holds ?? []).map(identity));
  const tried = lastOutcomes(outcomes).map(({ last }): WatchLine => {
    const key = refKey(last.action.object);
    const pool = plan.pools.find((one) => refKey(one.object) === key);
    const level = last.outcome === "failed" ? "error" : "info";
    return { level, object: plain(key), text: plain(`${outcomeLine(last)}: ${whyOutcome(last, pool, 0)}`) };
  });
  const failures = reportFailures.map(({ object, what, error }): WatchLine => {
    return {
      level: "warn",
      object: plain(refKey(object)),
      text: plain(`could not write its ${what}: ${messageOf(error)}`),
    };
  });
  const held = remaining.holds
    .filter((hold) => !told.has(identity(hold)))
    .map((hold): WatchLine => {
      const text = plain(`${holdText(hold)}: ${whyHold(hold, remaining.observedAtMs)}`);
      return { level: hold.needsPerson ? "warn" : "info", object: plain(refKey(hold.object)), text };
    });
  return [...tried, ...failures, ...held];
}

function identity({ kind, object, subject, reason }: Hold): string {
  return `${kind} ${refKey(object)} ${subject} ${reason}`;
}
