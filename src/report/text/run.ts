import { refKey, subjectOf } from "../../model/action.ts";
import { ACTIONS, changesFirewall } from "../../model/action-kinds.ts";
import type { Hold, Plan, PoolAssessment } from "../../model/plan.ts";
import { reasonText } from "../../model/reason.ts";
import { ownerKey } from "../../model/resource.ts";
import type { Outcome, PassResult } from "../../model/run.ts";
import { plain, plainValue } from "../../model/text.ts";
import { harmClasses } from "../impact.ts";
import { isRouted } from "../overview.ts";
import { actionObject, actionText, changeInBrackets, whyAction } from "./actions.ts";
import { errorText, messageOf, type Verbosity } from "./errors.ts";
import { holdText, whyHold } from "./holds.ts";
import { entryLines, listText } from "./layout.ts";
import { changeAndReason, gapLines, holdLines, type PlanLayout, symbolOf, unreadGrantLines } from "./plan.ts";
import { activeText, countChanges, countOf, putOffCount, untoldGaps } from "./summary.ts";

/** Returns a run for people: by object what was done, what failed and what is held, each with its reason; then one summary line, alone when there is nothing else. */
export function renderRun(found: PassResult, layout: PlanLayout & { readonly verbosity: Verbosity }): string {
  const result = plainValue(found);
  const objects = [
    ...result.remaining.pools.filter((pool) => !isRouted(pool)),
    ...result.remaining.pools.filter(isRouted),
    ...result.remaining.recordSets,
    ...result.outcomes.map(({ action }) => action),
    ...result.remaining.holds,
    ...result.reportFailures,
  ].map(({ object }) => refKey(object));
  const sections = [...new Set(objects)].flatMap((key) => {
    const lines = objectLines(result, key, layout);
    return lines.length === 0 ? [] : [layout.palette.strong(key), ...lines, ""];
  });
  const unread = [...gapLines(result.remaining, layout), ...unreadGrantLines(result.remaining.grants, layout)];
  const lines = [...sections, ...unread, layout.palette.strong(runSummary(result))];
  return lines.map((line) => `${line}\n`).join("");
}

function objectLines(
  result: PassResult,
  key: string,
  layout: PlanLayout & { readonly verbosity: Verbosity },
): string[] {
  const pool = result.plan.pools.find(({ object }) => refKey(object) === key);
  const outcomes = lastOutcomes(result.outcomes).filter(({ last }) => refKey(last.action.object) === key);
  const failures = result.reportFailures.filter(({ object }) => refKey(object) === key);
  return [
    ...outcomes.flatMap((outcome) => outcomeLines(outcome, pool, layout)),
    ...heldAfter(result)
      .filter(({ object }) => refKey(object) === key)
      .flatMap((hold) => holdLines(hold, result.remaining.observedAtMs, layout)),
    ...failures.flatMap(({ what, error }) => entryLines("!", `could not write its ${what}`, messageOf(error), layout)),
  ];
}

/** What is still held after the run, without what an outcome of this run already tells. */
function heldAfter({ remaining, outcomes }: PassResult): readonly Hold[] {
  const told = new Map(
    lastOutcomes(outcomes).flatMap(({ last }) =>
      last.outcome === "failed" || last.outcome === "unconfirmed"
        ? subjectKeys(last).map((key) => [key, errorOf(last)] as const)
        : [],
    ),
  );
  const isTold = ({ object, subject, reason, detail }: Hold): boolean => {
    const key = `${refKey(object)} ${subject}`;
    const isWaiting = reason === "Backoff" || reason === "InProgress" || reason === "Failed";
    return told.has(key) && (isWaiting || (detail !== "" && detail === told.get(key)));
  };
  return remaining.holds.filter((hold) => !isTold(hold));
}

/** What holds on the same thing have as their subject: of a purchase the object; a firewall is named there as its issuer does, by name or id. */
function subjectKeys({ action }: Outcome): readonly string[] {
  const key = refKey(action.object);
  if (changesFirewall(action))
    return [`${key} firewall ${action.firewall.name}`, `${key} firewall ${action.firewall.id}`];
  return [`${key} ${action.kind === "acquire-ip" ? ownerKey(action.object) : subjectOf(action)}`];
}

function errorOf(outcome: Outcome): string {
  return outcome.outcome === "failed" ? outcome.error.message : "";
}

/** Returns `1 moved, 1 annotated, 1 failed, 1 held; 2 pools, 3 of 3 addresses active.`, behind `Relocation: ` where somebody was hurt; or that nothing was to do; with what waits `Nothing to do now`, as a plan says it. */
export function runSummary(result: PassResult): string {
  const outcomes = lastOutcomes(result.outcomes).map(({ last }) => last);
  const applied = outcomes.flatMap(({ outcome, action }) => (outcome === "applied" ? [action] : []));
  const count = (wanted: string): number => outcomes.filter(({ outcome }) => outcome === wanted).length;
  const held = heldAfter(result);
  const blocked = held.filter(({ needsPerson }) => needsPerson).length;
  const numbers: readonly (readonly [number, string])[] = [
    ...[...countChanges(applied)].map(([kind, n]): readonly [number, string] => [n, ACTIONS[kind].counted]),
    [count("unconfirmed"), "unconfirmed"],
    [count("skipped"), "skipped"],
    [count("failed"), "failed"],
    [held.length - blocked, "held"],
    [blocked, "blocked"],
    [untoldGaps(result.remaining).length, "unreadable"],
    [putOffCount(result.remaining), "put off"],
    [result.reportFailures.length, "not reported"],
  ];
  const told = numbers.filter(([n]) => n > 0).map(([n, what]) => countOf(n, what));
  const stopped = result.wasInterrupted ? " Stopped early." : "";
  const active = activeText(result.remaining);
  if (told.length === 0) return `Nothing to do: ${active}.${stopped}`;
  return `${outcomes.length > 0 ? harmHeading(outcomes) : "Nothing to do now: "}${told.join(", ")}; ${active}.${stopped}`;
}

/** Returns `Relocation: ` where that was done to somebody, or may have been; `""` where nobody was hurt. */
function harmHeading(outcomes: readonly Outcome[]): string {
  const done = outcomes.filter(({ outcome }) => outcome === "applied" || outcome === "unconfirmed");
  const text = listText(harmClasses(done.map(({ action }) => action)));
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}: `;
}

/** Returns `moved 203.0.113.1 from worker-1 to worker-2`, or what did not work: `could not move …`, `did not move …`. */
export function outcomeText(outcome: Outcome): string {
  const { action } = outcome;
  const what = actionObject(action, outcome.address?.ip);
  switch (outcome.outcome) {
    case "applied":
      return `${ACTIONS[action.kind].past} ${what}`;
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
function outcomeLines(
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

/** The last outcome of one action, and how often it was tried in the run. */
export interface LastOutcome {
  readonly last: Outcome;
  readonly attempts: number;
}

/** Returns one entry per action and target, in the order in which they last ended: an address that went on to another node has two. Skipped tries do not count as attempts. */
export function lastOutcomes(outcomes: readonly Outcome[]): readonly LastOutcome[] {
  const byID = new Map<string, LastOutcome>();
  for (const last of outcomes) {
    const key = `${last.action.id} ${JSON.stringify(last.action.after)}`;
    const before = byID.get(key);
    byID.delete(key);
    byID.set(key, { last, attempts: (before?.attempts ?? 0) + (last.outcome === "skipped" ? 0 : 1) });
  }
  return [...byID.values()];
}

/** One line about a pass, without its time. */
interface WatchLine {
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
