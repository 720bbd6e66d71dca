import { ACTIONS, actionKind } from "../model/action-kinds.ts";
import type { Change, ChangeSource } from "../model/change.ts";
import { compareText } from "../model/resource.ts";
import type { KeptChange } from "./from-status.ts";
import { placeOf } from "./texts.ts";

/**
 * How far apart an Event and a log line may say that the same thing happened, milliseconds. A run writes both after the change: the Event once the status is stored, the log
 * line at its end.
 */
const SAME_MS = 120_000;

/** A failure that repeats within this time is one fact, milliseconds. The API server keeps an Event as long, and counts in it. */
const REPEAT_MS = 3_600_000;

/**
 * Returns the facts of all sources, each once, the newest first. Pure.
 *
 *   the same thing              told once
 *   an Event and a log line     that say the same of the same object at about the same time; the log line knows how long it took, the Event where
 *   a failure that repeats      with how often it was, since when, and when last
 *   what status or Lease keep   only where no Event and no log line tells it
 */
export function mergeChanges(told: {
  readonly events: readonly Change[];
  readonly logs: readonly Change[];
  readonly kept: readonly KeptChange[];
}): readonly Change[] {
  const isOnce = (change: Change): boolean => !doesRepeat(change);
  const once = pairUp(told.events.filter(isOnce), told.logs.filter(isOnce));
  const repeats = foldRepeats([...told.events, ...told.logs].filter(doesRepeat));
  const all = [...once, ...repeats];
  const byPlace = Map.groupBy(all, placeOf);
  const isTold = (one: KeptChange): boolean =>
    (byPlace.get(placeOf(one.change)) ?? []).some((change) => tells(change, one));
  const untold = told.kept.filter((one) => !isTold(one));
  return [...all, ...untold.map(({ change }) => change)].toSorted(newestFirst);
}

/** What is written within the same millisecond is told in the order in which one object's writes are made, and then by its text: a history is always told the same. */
function newestFirst(a: Change, b: Change): number {
  const inOrder = b.timeMs - a.timeMs || phaseOf(b) - phaseOf(a) || compareText(placeOf(a), placeOf(b));
  return inOrder || (phaseOf(a) === 0 ? 0 : compareText(a.what, b.what));
}

function phaseOf({ kind }: Change): number {
  const known = actionKind(kind);
  return known === undefined ? 0 : ACTIONS[known].phase;
}

/** Failures are counted, whatever else happens between them; what was done is told each time. */
function doesRepeat({ outcome }: Change): boolean {
  return outcome === "failed";
}

/** Returns the changes with those that say the same about a failure folded into one, as long as it repeats. In no order. Pure. */
export function foldRepeats(changes: readonly Change[]): readonly Change[] {
  const once = changes.filter((change) => !doesRepeat(change));
  const groups = Map.groupBy(changes.filter(doesRepeat), failureKey);
  return [...once, ...[...groups.values()].flatMap(spansOf)];
}

/** How much of a text counts: an Event holds only its beginning. */
const TEXT_LENGTH = 300;

/** Ids of requests and how often it was are different each time. */
function failureKey(change: Change): string {
  const text = `${change.what}: ${change.why}`
    .replaceAll(/\b[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\b/gi, "")
    .replaceAll(/ \(\d+ times in a row\)/g, "");
  return JSON.stringify([placeOf(change), change.kind, text.slice(0, TEXT_LENGTH)]);
}

/** How often each source saw the same failure. */
type Seen = Map<ChangeSource, number>;

function spansOf(same: readonly Change[]): readonly Change[] {
  const spans: { change: Change; readonly seen: Seen }[] = [];
  for (const change of same.toSorted((a, b) => a.firstMs - b.firstMs)) {
    const last = spans.at(-1);
    if (last === undefined || change.firstMs > last.change.timeMs + REPEAT_MS) {
      spans.push({ change, seen: seenBy(change, new Map()) });
      continue;
    }
    seenBy(change, last.seen);
    last.change = joined(last.change, change, Math.max(...last.seen.values()));
  }
  return spans.map(({ change }) => change);
}

function seenBy({ sources, count }: Change, seen: Seen): Seen {
  for (const source of sources) seen.set(source, (seen.get(source) ?? 0) + count);
  return seen;
}

/** Two tellings of one thing: what the later one says, and what only the other one knows. */
function joined(a: Change, b: Change, count: number): Change {
  const [older, newer] = a.timeMs <= b.timeMs ? [a, b] : [b, a];
  return {
    ...older,
    ...newer,
    timeMs: newer.timeMs,
    firstMs: Math.min(a.firstMs, b.firstMs),
    count,
    subject: newer.subject || older.subject,
    why: newer.why || older.why,
    sources: [...new Set([...older.sources, ...newer.sources])],
  };
}

/** Joins each Event with the log line of the same change, where there is one. Both come in the order of time. */
function pairUp(events: readonly Change[], logs: readonly Change[]): readonly Change[] {
  const lines = Map.groupBy(logs, changeKey);
  const groups = Map.groupBy(events, changeKey);
  return [...new Set([...groups.keys(), ...lines.keys()])].flatMap((key) =>
    pairsOf(inTime(groups.get(key) ?? []), inTime(lines.get(key) ?? [])),
  );
}

function inTime(changes: readonly Change[]): readonly Change[] {
  return changes.toSorted((a, b) => a.timeMs - b.timeMs);
}

function changeKey(change: Change): string {
  return JSON.stringify([placeOf(change), change.kind, change.outcome, change.what]);
}

function pairsOf(events: readonly Change[], lines: readonly Change[]): readonly Change[] {
  const rest = [...lines];
  const told = events.map((event) => {
    const at = rest.findIndex((line) => Math.abs(event.timeMs - line.timeMs) <= SAME_MS);
    const [line] = at < 0 ? [] : rest.splice(at, 1);
    if (line === undefined) return event;
    // Both are written after the change: the earlier time is nearer to it.
    const timeMs = Math.min(event.timeMs, line.timeMs);
    return { ...joined(event, line, 1), timeMs, firstMs: timeMs };
  });
  return [...told, ...rest];
}

/** True where an Event or a log line of the same object tells what status or the Lease keeps. */
function tells(change: Change, { change: kept, toldBy }: KeptChange): boolean {
  // When it failed is not kept.
  if (kept.kind === "retry") return change.outcome === "failed" && kept.why !== "" && change.why.includes(kept.why);
  const isAbout = kept.subject === "" || change.subject === kept.subject;
  const isThen = change.timeMs >= kept.firstMs - SAME_MS && change.firstMs <= kept.timeMs + SAME_MS;
  return toldBy.includes(change.kind) && isAbout && isThen;
}
