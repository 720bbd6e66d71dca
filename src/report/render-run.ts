import type { Hold } from "../model/plan.ts";
import type { PassResult } from "../model/run.ts";
import { VERBS } from "./action-message.ts";
import { messageOf, type Verbosity } from "./error-text.ts";
import { lastOutcomes } from "./last-outcomes.ts";
import { entryLines } from "./layout.ts";
import { objectText } from "./object-text.ts";
import { outcomeLines } from "./outcome-lines.ts";
import { holdLines, type PlanLayout } from "./pool-section.ts";
import { gapLines } from "./render-plan.ts";
import { activeText, countKinds, countOf } from "./summary.ts";
import { untoldGaps } from "./untold-gaps.ts";

/** Returns a run for people: by object what was done, what failed and what is held, each with its reason; then one summary line, alone when there is nothing else. */
export function renderRun(result: PassResult, layout: PlanLayout & { readonly verbosity: Verbosity }): string {
  const objects = [
    ...result.remaining.pools,
    ...result.outcomes.map(({ action }) => action),
    ...result.remaining.holds,
    ...result.reportFailures,
  ].map(({ object }) => objectText(object));
  const sections = [...new Set(objects)].flatMap((key) => {
    const lines = objectLines(result, key, layout);
    return lines.length === 0 ? [] : [layout.palette.strong(key), ...lines, ""];
  });
  const lines = [...sections, ...gapLines(result.remaining, layout), layout.palette.strong(runSummary(result))];
  return lines.map((line) => `${line}\n`).join("");
}

function objectLines(
  result: PassResult,
  key: string,
  layout: PlanLayout & { readonly verbosity: Verbosity },
): string[] {
  const pool = result.plan.pools.find(({ object }) => objectText(object) === key);
  const outcomes = lastOutcomes(result.outcomes).filter(({ last }) => objectText(last.action.object) === key);
  const failures = result.reportFailures.filter(({ object }) => objectText(object) === key);
  return [
    ...outcomes.flatMap((outcome) => outcomeLines(outcome, pool, layout)),
    ...heldAfter(result)
      .filter(({ object }) => objectText(object) === key)
      .flatMap((hold) => holdLines(hold, result.remaining.observedAtMs, layout)),
    ...failures.flatMap(({ what, error }) => entryLines("!", `could not write its ${what}`, messageOf(error), layout)),
  ];
}

/** What is still held after the run, without what an outcome of this run already tells. */
function heldAfter({ remaining, outcomes }: PassResult): readonly Hold[] {
  const told = lastOutcomes(outcomes)
    .filter(({ last }) => last.outcome === "failed" || last.outcome === "unconfirmed")
    .map(({ last }) => ("ip" in last.action ? `${objectText(last.action.object)} ${last.action.ip}` : ""));
  const isTold = (hold: Hold): boolean =>
    (hold.reason === "Backoff" || hold.reason === "InProgress" || hold.reason === "Failed") &&
    told.includes(`${objectText(hold.object)} ${hold.subject}`);
  return remaining.holds.filter((hold) => !isTold(hold));
}

/** Returns `1 moved, 1 annotated, 1 failed; 1 held. 2 pools, 3 of 3 addresses active.`, or that nothing was to do. */
export function runSummary(result: PassResult): string {
  const outcomes = lastOutcomes(result.outcomes).map(({ last }) => last);
  const applied = outcomes.flatMap(({ outcome, action }) => (outcome === "applied" ? [action.kind] : []));
  const count = (wanted: string): number => outcomes.filter(({ outcome }) => outcome === wanted).length;
  const blocked = result.remaining.holds.filter(({ needsPerson }) => needsPerson).length;
  const numbers: readonly (readonly [number, string])[] = [
    ...[...countKinds(applied)].map(([kind, n]): readonly [number, string] => [n, doneText(kind)]),
    [count("unconfirmed"), "unconfirmed"],
    [count("skipped"), "skipped"],
    [count("failed"), "failed"],
    [result.remaining.holds.length - blocked, "held"],
    [blocked, "blocked"],
    [untoldGaps(result.remaining).length, "unreadable"],
    [result.reportFailures.length, "not reported"],
  ];
  const told = numbers.filter(([n]) => n > 0).map(([n, what]) => countOf(n, what));
  const stopped = result.wasInterrupted ? " Stopped early." : "";
  const active = activeText(result.remaining);
  if (outcomes.length > 0) return `${told.join(", ")}; ${active}.${stopped}`;
  return `Nothing to do: ${[...told, active].join(", ")}.${stopped}`;
}

function doneText(kind: keyof typeof VERBS): string {
  switch (kind) {
    case "add-finalizer":
    case "remove-finalizer":
      return `finalizer ${VERBS[kind].past}`;
    case "clear-annotation":
      return "annotation cleared";
    default:
      return VERBS[kind].past;
  }
}
