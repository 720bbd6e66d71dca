import { type Action, refKey, subjectOf } from "../../model/action.ts";
import { ACTIONS, changesFirewall } from "../../model/action-kinds.ts";
import { capital, reasonText } from "../../model/hold.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { Hold, Plan, PoolAssessment } from "../../model/plan.ts";
import { objectKey, ownerKey, RETRY_REASONS } from "../../model/resource.ts";
import type { PassResult, ReportFailure, SavedRun } from "../../model/run.ts";
import { plain, plainValue } from "../../model/text.ts";
import { durationText } from "../../model/time.ts";
import { sharedCauses, withoutSubjects } from "../causes.ts";
import { harmClasses } from "../impact.ts";
import { isRouted } from "../overview.ts";
import { toldPool } from "../told-pool.ts";
import { actionLine, actionObject, actionText, changeInBrackets, whyAction } from "./actions.ts";
import { causeLine, causeLines } from "./causes.ts";
import { errorText, messageOf, type Verbosity } from "./errors.ts";
import { holdText, whyHold } from "./holds.ts";
import { blockLines, type EntrySymbol, entryLines, linesOf, listText } from "./layout.ts";
import { gapBlocks, unreadGrantBlocks } from "./plan.ts";
import {
  changeAndReason,
  followingEntry,
  heldEntries,
  isFollowing,
  type PlanLayout,
  symbolOf,
} from "./plan-entries.ts";
import { activeText, countChanges, countOf, putOffCount, untoldGaps } from "./summary.ts";
import { clockText, readableTimes } from "./times.ts";

/** How a run is shown. */
export interface RunLayout extends PlanLayout {
  readonly verbosity: Verbosity;
  /** The outcomes that are still to be shown; absent = all. */
  readonly untold?: readonly Outcome[];
}

/** Returns a run for people: by object what was done, what failed and what is held, each with its reason; then one summary line, alone when there is nothing else. */
export function renderRun(found: PassResult, layout: RunLayout): string {
  const result = plainValue(found);
  const untold = plainValue(layout.untold ?? found.outcomes);
  const held = heldAfter(result);
  const causes = sharedCauses({ ...result.remaining, holds: held });
  const elsewhere = new Set(causes.flatMap(({ holds }) => holds));
  const own = held.filter((hold) => !elsewhere.has(hold));
  const groups = layout.wide ? [] : alike(lastOutcomes(untold));
  const unwritten = layout.wide ? [] : unwrittenAlike(result.reportFailures);
  const objects = [
    ...result.remaining.pools.filter((pool) => !isRouted(pool)),
    ...result.remaining.pools.filter(isRouted),
    ...result.remaining.recordSets,
    ...result.outcomes.map(({ action }) => action),
    ...result.remaining.holds,
    ...result.reportFailures,
  ].map(({ object }) => refKey(object));
  const sections = [...new Set(objects)].flatMap((key) => {
    const lines = objectLines(result, key, { ...layout, untold, held: own, groups, unwritten });
    return lines.length === 0 ? [] : [layout.palette.strong(key), ...lines, ""];
  });
  const together = [
    ...groups.filter(isOfSeveral).flatMap((group) => groupLines(group, result, layout)),
    ...unwritten.flatMap(([{ what, object, error }, ...more]) =>
      entryLines(
        "!",
        `could not write the ${what} of ${refKey(object)}, and ${more.length} more`,
        messageOf(error),
        layout,
      ),
    ),
  ];
  const unread =
    result.saved === undefined
      ? [
          ...(together.length === 0 ? [] : [...together, ""]),
          ...causeLines(causes, result.remaining.observedAtMs, layout),
          ...blockLines([...gapBlocks(result.remaining), ...unreadGrantBlocks(result.remaining.grants)], layout),
        ]
      : [];
  const lines = [...sections, ...unread, layout.palette.strong(runSummary(result))];
  return lines.map((line) => `${line}\n`).join("");
}

/** Returns what came of one action, for people, as it happens. The plan is the one that the action is of. Ends with a line end. */
export function renderOutcome(found: Outcome, { pools, observedAtMs }: Plan, layout: RunLayout): string {
  const outcome = plainValue(found);
  const key = refKey(outcome.action.object);
  const pool = pools.find(({ object }) => refKey(object) === key);
  return outcomeLines({ last: outcome, attempts: 1 }, { pool, nowMs: observedAtMs }, layout)
    .map((line) => `${line}\n`)
    .join("");
}

function objectLines(
  result: PassResult,
  key: string,
  layout: RunLayout &
    Required<Pick<RunLayout, "untold">> & {
      readonly held: readonly Hold[];
      readonly groups: readonly Alike[];
      readonly unwritten: readonly UnwrittenAlike[];
    },
): string[] {
  const all = lastOutcomes(layout.untold).filter(({ last }) => refKey(last.action.object) === key);
  const object = all[0]?.last.action.object;
  const pool = object === undefined ? undefined : toldPool(object, result.plan, result.remaining);
  const nowMs = result.remaining.observedAtMs;
  const grouped = new Set(layout.groups.flat().map(({ last }) => last));
  const own = layout.groups.filter((group) => !isOfSeveral(group) && all.some(({ last }) => last === group[0].last));
  const told = all.filter(({ last }) => !grouped.has(last) && (layout.wide || !isUnmet(last)));
  const following = layout.wide
    ? []
    : told.filter(({ last }) => last.outcome === "applied" && isFollowing(last.action));
  const isFolded = following.length > 0 && following.length < told.length;
  const folded = new Set(isFolded ? following : []);
  const elsewhere = new Set(layout.unwritten.flat());
  const failures = result.reportFailures.filter((one) => refKey(one.object) === key && !elsewhere.has(one));
  const isIt = ({ object }: Action): boolean => refKey(object) === key;
  return [
    ...(result.saved?.done ?? []).filter(isIt).flatMap((action) => asideLines("=", "already done", action, layout)),
    ...told.flatMap((outcome) => {
      if (!folded.has(outcome)) return outcomeLines(outcome, { pool, nowMs }, layout);
      return outcome === following[0] ? linesOf([followingEntry(following.length, "followed")], layout) : [];
    }),
    ...own.flatMap((group) => groupLines(group, result, layout)),
    ...(result.saved?.others ?? []).filter(isIt).flatMap((action) => asideLines(".", NOT_SAVED, action, layout)),
    ...linesOf(
      heldEntries(
        layout.held.filter(({ object }) => refKey(object) === key),
        result.remaining.observedAtMs,
        layout,
      ),
      layout,
    ),
    ...failures.flatMap(({ what, error }) => entryLines("!", `could not write its ${what}`, messageOf(error), layout)),
  ];
}

/** True for an annotation that did not follow, since its address did not come: that is told of the address. */
function isUnmet(last: Outcome): boolean {
  return last.outcome === "skipped" && last.reason === "PrerequisiteFailed" && isFollowing(last.action);
}

/** Outcomes of one kind of change that came to nothing for one cause. */
type Alike = readonly [LastOutcome, ...LastOutcome[]];

/** So many outcomes of one cause are told one by one. */
export const MOST_ALIKE = 3;

/** Returns the outcomes that came to nothing for one cause, where they are too many to tell one by one. */
function alike(outcomes: readonly LastOutcome[]): readonly Alike[] {
  const failed = outcomes.filter(({ last }) => last.outcome !== "applied" && !isUnmet(last));
  return [...Map.groupBy(failed, ({ last }) => causeKey(last)).values()].flatMap(([first, ...more]) => {
    const isFew = first === undefined || more.length < (isAnnotation(first.last.action) ? 1 : MOST_ALIKE);
    return isFew ? [] : [[first, ...more]];
  });
}

/** Returns the same text for outcomes that came to nothing for one cause: what each is about, and when it was tried, is left out. */
export function causeKey(outcome: Outcome): string {
  const { action } = outcome;
  const names = new Set(textsIn(action));
  const why = withoutSubjects(whyOutcome(outcome, undefined, 0), names).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "");
  return JSON.stringify([outcome.outcome, isAnnotation(action) ? "annotation" : action.kind, why]);
}

function isAnnotation({ kind }: Action): boolean {
  return kind === "annotate-node" || kind === "clear-annotation";
}

/** What could not be written of many objects for one cause. */
type UnwrittenAlike = readonly [ReportFailure, ...ReportFailure[]];

function unwrittenAlike(failures: readonly ReportFailure[]): readonly UnwrittenAlike[] {
  const groups = Map.groupBy(failures, unwrittenCause);
  return [...groups.values()].flatMap(([first, ...more]) =>
    first === undefined || more.length < MOST_ALIKE ? [] : [[first, ...more]],
  );
}

/** Returns the same text for what could not be written for one cause, whatever object it is of. */
export function unwrittenCause({ what, object, error }: ReportFailure): string {
  const names = new Set([object.name, objectKey(object), ownerKey(object)]);
  return `${what} ${withoutSubjects(messageOf(error), names)}`;
}

/** Returns what could not be written, for lines that stand alone: many of one cause are one, with how many more there are. */
export function unwrittenTogether(
  failures: readonly ReportFailure[],
): readonly { readonly failure: ReportFailure; readonly more: number }[] {
  const groups = unwrittenAlike(failures);
  const others = new Set(groups.flatMap(([, ...more]) => more));
  return failures
    .filter((failure) => !others.has(failure))
    .map((failure) => ({ failure, more: (groups.find(([first]) => first === failure)?.length ?? 1) - 1 }));
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function isOfSeveral(group: Alike): boolean {
  return new Set(group.map(({ last }) => refKey(last.action.object))).size > 1;
}

/** Returns the lines about outcomes of one cause: the first, and how many more. */
function groupLines([first, ...more]: Alike, { plan, remaining }: PassResult, layout: RunLayout): string[] {
  const pool = toldPool(first.last.action.object, plan, remaining);
  const facts = { pool, nowMs: plan.observedAtMs, more: more.length };
  return outcomeLines(first, facts, layout);
}

const NOT_SAVED = "not in the saved plan";

/** Returns the lines about an action that a run with a saved plan did not have to do. */
function asideLines(symbol: "=" | ".", why: string, action: Action, layout: RunLayout): string[] {
  return entryLines(symbol, `${why}: ${actionLine(action)}`, "", layout);
}

/** What is still held after the run, without what an outcome of this run already tells. */
function heldAfter({ remaining, outcomes, saved }: PassResult): readonly Hold[] {
  const told = new Map(
    lastOutcomes(outcomes).flatMap(({ last }) =>
      last.outcome === "failed" || last.outcome === "unconfirmed"
        ? subjectKeys(last).map((key) => [key, errorOf(last)] as const)
        : [],
    ),
  );
  const isTold = ({ object, subject, reason, detail }: Hold): boolean => {
    const key = `${refKey(object)} ${subject}`;
    const isRetried = reason === "Backoff" || RETRY_REASONS.some((one) => one === reason);
    const isWaiting = isRetried || reason === "InProgress" || reason === "Failed";
    return told.has(key) && (isWaiting || (detail !== "" && detail === told.get(key)));
  };
  // A saved plan says what is to be done, not what is to wait.
  return saved === undefined ? remaining.holds.filter((hold) => !isTold(hold)) : [];
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
  if (result.saved !== undefined) return savedSummary(result, result.saved);
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
  const why = result.hasLostLease === true ? ": the Lease was lost" : "";
  const stopped = result.wasInterrupted ? ` Stopped early${why}.` : "";
  const active = activeText(result.remaining);
  if (told.length === 0) return `Nothing to do: ${active}.${stopped}`;
  return `${outcomes.length > 0 ? harmHeading(outcomes) : "Nothing to do now: "}${told.join(", ")}; ${active}.${stopped}`;
}

/** Returns `Saved plan 5f2c9a1e03b7d4, 2h10m old: 2 of 4 applied, 2 refused, 1 more not in it. …` */
function savedSummary({ outcomes, remaining, wasInterrupted }: PassResult, saved: SavedRun): string {
  const last = lastOutcomes(outcomes).map((one) => one.last);
  const count = (is: (outcome: Outcome) => boolean): number => last.filter(is).length;
  const refused = count(isRefused);
  const numbers: readonly (readonly [number, string])[] = [
    [saved.done.length, "already done"],
    [count(({ outcome }) => outcome === "unconfirmed"), "unconfirmed"],
    [count((outcome) => outcome.outcome === "skipped" && !isRefused(outcome)), "skipped"],
    [count(({ outcome }) => outcome === "failed"), "failed"],
    [refused, "refused"],
    [saved.others.length, "more not in it"],
  ];
  const applied = `${count(({ outcome }) => outcome === "applied")} of ${saved.count} applied`;
  const told = [applied, ...numbers.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`)];
  const age = durationText(remaining.observedAtMs - saved.savedAtMs);
  const advice = refused + saved.others.length > 0 ? " Make a new plan: flipop plan --save FILE." : "";
  return `Saved plan ${saved.planID}, ${age} old: ${told.join(", ")}.${advice}${wasInterrupted ? " Stopped early." : ""}`;
}

/** True for an action of a saved plan that was refused: what it depends on was different, also right before its call. */
export function isRefused(outcome: Outcome): boolean {
  return outcome.outcome === "skipped" && (outcome.refusedFor !== undefined || outcome.reason === "Stale");
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
      return outcome.refusedFor === undefined ? `did not ${actionText(action)}` : `refused: ${actionText(action)}`;
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
      return `Accepted, and not seen to be true yet.${endedText(outcome)} The next run looks again.`;
    case "skipped":
      return outcome.detail || reasonText(outcome.reason, outcome.action.object.kind);
    case "failed":
      return errorText(outcome.error, verbosity);
  }
}

/** Why nobody looks any more, as a sentence behind another; `""` where the time was over. */
function endedText({ endedBy, endedAtMs }: Extract<Outcome, { readonly outcome: "unconfirmed" }>): string {
  if (endedBy === undefined) return "";
  const { failure, notBeforeMs, provider } = endedBy;
  if (failure !== "rate-limited" || notBeforeMs === undefined) return ` ${messageOf(endedBy)}`;
  return ` ${capital(provider)}'s rate limit is used up until ${clockText(notBeforeMs, endedAtMs ?? notBeforeMs)}.`;
}

const SYMBOLS = { unconfirmed: "?", skipped: ".", failed: "!" } as const;

/** What an outcome is told with. */
interface OutcomeFacts {
  /** Tells why a holder no longer matches. */
  readonly pool: PoolAssessment | undefined;
  readonly nowMs: number;
  /** How many others had the same cause; absent = it is told alone. */
  readonly more?: number;
}

/** Returns the lines about one action that was tried. */
function outcomeLines(
  { last, attempts }: LastOutcome,
  { pool, nowMs, more }: OutcomeFacts,
  layout: RunLayout,
): string[] {
  const { action } = last;
  const isOfPlan = last.outcome === "skipped" && last.refusedFor !== undefined;
  const symbol = last.outcome === "applied" ? symbolOf(action) : isOfPlan ? "!" : SYMBOLS[last.outcome];
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  const took = last.outcome === "skipped" ? "" : ` (${(last.ms / 1000).toFixed(1)} s${tries})`;
  const said = readableTimes(whyOutcome(last, pool, layout.verbosity), nowMs);
  const behind = more === undefined ? took : `, and ${more} more`;
  return entryLines(
    symbol,
    outcomeText(last) + behind,
    more === undefined ? changeAndReason(action, said, layout) : said,
    layout,
  );
}

/** The last outcome of one action, and how often it was tried in the run. */
export interface LastOutcome {
  readonly last: Outcome;
  readonly attempts: number;
}

/** Returns one entry per action and target, in the order of the last outcome of each: an address that went on to another node has two. Skipped tries do not count as attempts. */
export function lastOutcomes(outcomes: readonly Outcome[]): readonly LastOutcome[] {
  const byID = new Map<string, LastOutcome>();
  for (const last of withoutPutOff(outcomes)) {
    const key = `${last.action.id} ${JSON.stringify(last.action.after)}`;
    const before = byID.get(key);
    byID.delete(key);
    byID.set(key, { last, attempts: (before?.attempts ?? 0) + (last.outcome === "skipped" ? 0 : 1) });
  }
  return [...byID.values()];
}

/** Returns the outcomes without the purchases that waited for another one, and were made later. What is bought next is the first purchase of the next plan, so it has another id. */
function withoutPutOff(outcomes: readonly Outcome[]): readonly Outcome[] {
  const purposeOf = ({ action: { kind, object, after } }: Outcome): string | undefined =>
    kind === "acquire-ip" ? `${refKey(object)} ${JSON.stringify(after)}` : undefined;
  const lastAsked = new Map(
    outcomes.flatMap((one, at) => (one.outcome === "skipped" ? [] : [[purposeOf(one), at] as const])),
  );
  return outcomes.filter((one, at) => {
    const purpose = one.outcome === "skipped" ? purposeOf(one) : undefined;
    return purpose === undefined || (lastAsked.get(purpose) ?? -1) < at;
  });
}

/** One line about a pass, without its time. */
interface WatchLine {
  readonly symbol: EntrySymbol;
  /** What it is about and what came of it: `pool/ingress/web: moved …`. */
  readonly text: string;
  /** True for what is over in a moment: told only to who asks for more. */
  readonly isBrief?: true;
}

/**
 * Returns what a pass has to tell, a line per change: what was tried and what came of it, statuses that could not be written, and what is held now and was not after the
 * pass before, with the time when it is due. What many came to nothing for, or wait for, is one line. Nothing when nothing is new. Pure.
 */
export function watchLines(result: PassResult, before: Plan | undefined): readonly WatchLine[] {
  const { remaining, reportFailures } = result;
  const told = new Set((before?.holds ?? []).map(identity));
  const fresh = remaining.holds.filter((hold) => !told.has(identity(hold)));
  const causes = sharedCauses({ ...remaining, holds: fresh });
  const elsewhere = new Set(causes.flatMap(({ holds }) => holds));
  const failures = unwrittenTogether(reportFailures).map(({ failure: { object, what, error }, more }): WatchLine => {
    const others = more === 0 ? "" : `, and that of ${more} more`;
    return { symbol: "!", text: plain(`${refKey(object)}: could not write its ${what}${others}: ${messageOf(error)}`) };
  });
  const held = fresh
    .filter((hold) => !elsewhere.has(hold))
    .map((hold): WatchLine => {
      const text = plain(`${refKey(hold.object)}: ${holdText(hold)}: ${whyHold(hold, remaining.observedAtMs)}`);
      const brief = hold.reason === "Settling" ? { isBrief: true as const } : {};
      return { symbol: hold.needsPerson ? "!" : ".", text, ...brief };
    });
  const shared = causes.map(
    (cause): WatchLine => ({ symbol: "!", text: plain(causeLine(cause, remaining.observedAtMs)) }),
  );
  return [...triedLines(result), ...failures, ...held, ...shared];
}

function triedLines({ outcomes, plan, remaining }: PassResult): readonly WatchLine[] {
  const last = lastOutcomes(outcomes);
  const groups = alike(last);
  const others = new Set(groups.flatMap(([, ...more]) => more));
  return last
    .filter((one) => !others.has(one))
    .map((one): WatchLine => {
      const { action, outcome } = one.last;
      const key = refKey(action.object);
      const pool = toldPool(action.object, plan, remaining);
      const more = (groups.find(([first]) => first === one)?.length ?? 1) - 1;
      const what = more === 0 ? outcomeLine(one.last) : `${outcomeText(one.last)}, and ${more} more`;
      const why = readableTimes(whyOutcome(one.last, pool, 0), remaining.observedAtMs);
      return {
        symbol: outcome === "applied" ? symbolOf(action) : SYMBOLS[outcome],
        text: plain(`${key}: ${what}: ${why}`),
      };
    });
}

function identity({ kind, object, subject, reason }: Hold): string {
  return `${kind} ${refKey(object)} ${subject} ${reason}`;
}
