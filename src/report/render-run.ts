import { refKey, subjectOf } from "../model/action.ts";
import type { Hold } from "../model/plan.ts";
import { ownerKey } from "../model/resource.ts";
import type { Outcome, PassResult } from "../model/run.ts";
import { plainValue } from "../model/text.ts";
import { VERBS } from "./action-message.ts";
import { messageOf, type Verbosity } from "./error-text.ts";
import { isRouted } from "./is-routed.ts";
import { lastOutcomes } from "./last-outcomes.ts";
import { entryLines } from "./layout.ts";
import { outcomeLines } from "./outcome-lines.ts";
import { holdLines, type PlanLayout } from "./plan-entry.ts";
import { gapLines } from "./render-plan.ts";
import { activeText, countChanges, countOf } from "./summary.ts";
import { putOffCount, untoldGaps } from "./untold-gaps.ts";

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
  const lines = [...sections, ...gapLines(result.remaining, layout), layout.palette.strong(runSummary(result))];
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
  if ("firewall" in action) return [`${key} firewall ${action.firewall.name}`, `${key} firewall ${action.firewall.id}`];
  return [`${key} ${action.kind === "acquire-ip" ? ownerKey(action.object) : subjectOf(action)}`];
}

function errorOf(outcome: Outcome): string {
  return outcome.outcome === "failed" ? outcome.error.message : "";
}

/** Returns `1 moved, 1 annotated, 1 failed, 1 held; 2 pools, 3 of 3 addresses active.`, or that nothing was to do; with what waits `Nothing to do now`, as a plan says it. */
export function runSummary(result: PassResult): string {
  const outcomes = lastOutcomes(result.outcomes).map(({ last }) => last);
  const applied = outcomes.flatMap(({ outcome, action }) => (outcome === "applied" ? [action] : []));
  const count = (wanted: string): number => outcomes.filter(({ outcome }) => outcome === wanted).length;
  const held = heldAfter(result);
  const blocked = held.filter(({ needsPerson }) => needsPerson).length;
  const numbers: readonly (readonly [number, string])[] = [
    ...[...countChanges(applied)].map(([kind, n]): readonly [number, string] => [n, doneText(kind)]),
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
  return `${outcomes.length > 0 ? "" : "Nothing to do now: "}${told.join(", ")}; ${active}.${stopped}`;
}

function doneText(kind: keyof typeof VERBS): string {
  switch (kind) {
    case "add-finalizer":
    case "remove-finalizer":
      return `finalizer ${VERBS[kind].past}`;
    case "clear-annotation":
      return "annotation cleared";
    case "withdraw-dns":
      return VERBS[kind].count;
    case "update-dns":
      return "DNS name updated";
    case "delete-dns":
      return "DNS name deleted";
    case "open-ports":
    case "close-ports":
      return `port ${VERBS[kind].past}`;
    case "add-to-firewall":
      return "node added to a firewall";
    case "remove-from-firewall":
      return "node removed from a firewall";
    default:
      return VERBS[kind].past;
  }
}
