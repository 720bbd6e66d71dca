import { refKey } from "../../model/action.ts";
import { ACTIONS, actionKind } from "../../model/action-kinds.ts";
import type { Change, ChangeOutcome } from "../../model/change.ts";
import { countText, type EntrySymbol, entryLines, type Layout, wrap } from "./layout.ts";
import { aheadText, clockText, isInFuture, readableTimes, rfc3339 } from "./times.ts";

/** What `flipop history` tells. */
export interface ToldHistory {
  readonly cluster: string;
  readonly nowMs: number;
  /** How far back it was asked for, milliseconds. */
  readonly sinceMs: number;
  /** The newest first. */
  readonly changes: readonly Change[];
  /** How many known changes are older than that. */
  readonly older: number;
  /** How far back Events and logs reach, milliseconds; absent where there are none. */
  readonly eventsFromMs?: number;
  readonly logs?: { readonly fromMs?: number; readonly toMs?: number };
  /** What could not be read or told, a sentence each. */
  readonly gaps: readonly string[];
  /** Says that no object was selected; absent where one was, or where there are changes. */
  readonly none?: string;
}

/** Less than this beside the columns, and what happened stands below them. */
const LEAST_WIDTH = 40;

/** Renders the changes as a table, newest first, what happened last in it and wrapped, so that nothing is cut; then how far back is known what. */
export function renderHistory(history: ToldHistory, layout: Layout & { readonly wide: boolean }): string {
  const { changes, nowMs, sinceMs } = history;
  const { none = `No change is known since ${clockText(sinceMs, nowMs)}.` } = history;
  const table = changes.length === 0 ? wrap(none, "", layout.width) : tableLines(changes, nowMs, layout);
  const foot = [futureText(history), reachText(history), olderText(history), ...history.gaps].filter(
    (text) => text !== "",
  );
  const lines = [...table, ...foot.flatMap((text) => wrap(text, "", layout.width))];
  return lines.map((line) => `${line}\n`).join("");
}

function tableLines(
  changes: readonly Change[],
  nowMs: number,
  layout: Layout & { readonly wide: boolean },
): readonly string[] {
  const columns: readonly (readonly [header: string, cell: (change: Change) => string])[] = [
    ["TIME (UTC)", ({ timeMs }) => timeText(timeMs, nowMs)],
    ["OBJECT", ({ object }) => (object === undefined ? "-" : refKey(object))],
    ["BY", ({ by = "-" }) => by],
    ...(layout.wide ? [["SOURCE", ({ sources }: Change) => sources.join(", ")] as const] : []),
  ];
  const shown = columns.filter(([, cell]) => changes.some((change) => cell(change) !== "-"));
  const widths = shown.map(([header, cell]) =>
    changes.reduce((most, change) => Math.max(most, cell(change).length), header.length),
  );
  const row = (cells: readonly string[]): string =>
    cells.map((cell, at) => cell.padEnd((widths[at] ?? 0) + 3)).join("");
  const indent = widths.reduce((sum, width) => sum + width + 3, 0);
  const isBeside = layout.width === undefined || layout.width - indent >= LEAST_WIDTH;
  const width = layout.width === undefined || !isBeside ? layout.width : layout.width - indent + 2;
  const head = row(shown.map(([header]) => header));
  return [
    isBeside ? `${head}WHAT` : head.trimEnd(),
    ...changes.flatMap((change) => {
      const cells = row(shown.map(([, cell]) => cell(change)));
      const entry = changeLines(change, nowMs, { ...layout, ...(width === undefined ? {} : { width }) });
      if (!isBeside) return [cells.trimEnd(), ...entry];
      // An entry begins with two blanks.
      const [first = "", ...rest] = entry;
      return [cells.slice(0, -2) + first, ...rest.map((line) => " ".repeat(indent - 2) + line)];
    }),
  ];
}

/** Returns a change as reconcile tells it, and below it, further in, why. Lines without line ends. */
function changeLines(change: Change, nowMs: number, layout: Layout): readonly string[] {
  return entryLines(pastSymbol(change), pastText(change, nowMs), readableTimes(change.why, nowMs), layout);
}

/** Returns `moved 203.0.113.10 from worker-1 to worker-5 (0.1 s)`, or how often it was, and since when. */
export function pastText({ what, tookMs, count, firstMs }: Change, nowMs: number): string {
  const took = tookMs === undefined ? [] : [`${(tookMs / 1000).toFixed(1)} s`];
  const times = count < 2 ? [] : [`${count} times${firstMs < nowMs ? ` since ${clockText(firstMs, nowMs)}` : ""}`];
  const more = [...took, ...times];
  return more.length === 0 ? what : `${what} (${more.join(", ")})`;
}

const SYMBOLS: Readonly<Record<Exclude<ChangeOutcome, "applied">, EntrySymbol>> = {
  unconfirmed: "?",
  failed: "!",
  waiting: "!",
  seen: ".",
};

/** Returns the symbol of a change, as reconcile marks it; `=` for what is as it should be. */
export function pastSymbol({ kind, outcome }: Change): EntrySymbol {
  if (outcome !== "applied") return kind === "ready" && outcome === "seen" ? "=" : SYMBOLS[outcome];
  const known = actionKind(kind);
  return known === undefined ? "=" : ACTIONS[known].symbol;
}

function timeText(ms: number, nowMs: number): string {
  return clockText(ms, nowMs).replace(/ UTC$/, "");
}

/** Says of which changes the time is none that a right clock has shown yet. */
function futureText({ changes, nowMs }: ToldHistory): string {
  const ahead = changes.filter(({ timeMs }) => isInFuture(timeMs, nowMs));
  if (ahead.length === 0) return "";
  const last = ahead.reduce((latest, { timeMs }) => Math.max(latest, timeMs), nowMs);
  const many = `${countText(ahead.length, "change")} ${ahead.length === 1 ? "has" : "have"} a time in the future`;
  return `${many}, up to ${clockText(last, nowMs)} (${aheadText(rfc3339(last), nowMs)}): a clock was wrong.`;
}

function reachText({ eventsFromMs, logs, nowMs, gaps }: ToldHistory): string {
  const since = (ms: number): string => clockText(ms, nowMs);
  if (logs !== undefined) {
    const { fromMs, toMs } = logs;
    if (fromMs === undefined || toMs === undefined) return "";
    return `The logs reach from ${since(fromMs)} to ${since(toMs)}.`;
  }
  if (eventsFromMs !== undefined) return `Events reach back to ${since(eventsFromMs)}; older changes: --logs FILE.`;
  return gaps.length > 0
    ? ""
    : "There are no Events: a cluster keeps them for about an hour. Older changes: --logs FILE.";
}

function olderText({ older, sinceMs, nowMs }: ToldHistory): string {
  if (older === 0) return "";
  const are = older === 1 ? "is" : "are";
  return `${countText(older, "change")} before ${clockText(sinceMs, nowMs)} ${are} left out: --since reaches further back.`;
}
