import { plainValue } from "../../model/text.ts";
import { type Overview, seenAtTimesOf } from "../overview.ts";
import { wrap } from "./layout.ts";
import { reconcilerLines, type StatusLayout, type StatusTable, type StatusTableRow, statusTables } from "./status.ts";
import { missingGrants, problemsOf } from "./status-problems.ts";
import { clockText } from "./times.ts";

/** Something of status that is another than it was. */
export interface StatusChange {
  /** The object that changed, as a target; absent for the reconciler. */
  readonly object?: string;
  /** For people: the time of the later look, and what is so now. One line, or several where it is wrapped; without a line end. */
  readonly text: string;
}

/** How changes are shown. */
export interface ChangeLayout extends StatusLayout {
  /** When the tables were shown whole: a time of another day says its date. */
  readonly shownAtMs: number;
}

/**
 * Returns what differs between two looks at what is stored: rows of tables that are new, others or gone, in the order of the tables; then problems and missing
 * grants that are new; then facts of the reconciler. Ages that only grew are no change, nor is a run that changed nothing. Pure.
 */
export function statusChanges(earlier: Overview, later: Overview, layout: ChangeLayout): readonly StatusChange[] {
  const now = plainValue(later);
  const before = seenAtTimesOf(plainValue(earlier), now);
  const time = clockText(now.nowMs, layout.shownAtMs);
  const marginWidth = time.length + GAP.length + KIND_COLUMN + GAP.length;
  const rowLayout = layout.width === undefined ? layout : { ...layout, width: Math.max(layout.width - marginWidth, 1) };
  const rows = rowChanges(statusTables(before, rowLayout), statusTables(now, rowLayout));
  return [
    ...rows.map(({ kind, object, line }) => ({
      object,
      text: `${time}${GAP}${kind.padEnd(KIND_COLUMN)}${GAP}${line}`,
    })),
    ...newProblems(before, now).map(({ object, text }) => ({
      ...(object === "" ? {} : { object }),
      text: behindTime(time, text, layout),
    })),
    ...reconcilerChanges(before, now).map((text) => ({
      text: behindTime(time, `${"reconciler".padEnd(KIND_COLUMN)}${GAP}${text}`, layout),
    })),
  ];
}

const GAP = "  ";
/** As wide as the longest word for what a line is about. */
const KIND_COLUMN = "reconciler".length;

function behindTime(time: string, text: string, { width }: StatusLayout): string {
  const margin = " ".repeat(time.length + GAP.length);
  const [first = "", ...rest] = wrap(text, margin, width);
  return [time + GAP + first.slice(margin.length), ...rest].join("\n");
}

/** A row of a table that is new, another, or gone. */
interface RowChange {
  readonly kind: string;
  readonly object: string;
  readonly line: string;
}

function rowChanges(before: readonly StatusTable[], now: readonly StatusTable[]): readonly RowChange[] {
  const titles = [...new Set([...now, ...before].map(({ title }) => title))];
  return titles.flatMap((title) => {
    const kind = title.toLowerCase();
    const [old, fresh] = [before, now].map((tables) => rowsOf(tables.find((table) => table.title === title)));
    const changed = [...(fresh ?? [])].filter(([key, row]) => !hasSameFacts(row, old?.get(key)));
    const gone = [...(old ?? [])].filter(([key]) => fresh?.has(key) !== true);
    return [
      ...changed.map(([, { object, line }]) => ({ kind, object, line })),
      ...gone.map(([, { object, name }]) => ({ kind, object, line: `${name}   gone` })),
    ];
  });
}

/** An address that two pools name has a row in each. */
function rowsOf(table: StatusTable | undefined): ReadonlyMap<string, StatusTableRow> {
  return new Map((table?.rows ?? []).map((row) => [`${row.object} ${row.name}`, row]));
}

/** A table has columns more while one of its rows has something to say there. */
function hasSameFacts(a: StatusTableRow, b: StatusTableRow | undefined): boolean {
  return a.facts.size === b?.facts.size && [...a.facts].every(([title, text]) => b.facts.get(title) === text);
}

/** A problem stays the same one while it is tried again. */
function newProblems(before: Overview, now: Overview): readonly { readonly object: string; readonly text: string }[] {
  const [old, fresh] = [before, now].map((overview) => [
    ...problemsOf(overview, { isApart: true }),
    ...missingGrants(overview),
  ]);
  const told = new Set(old?.map(({ what }) => what));
  return (fresh ?? [])
    .filter(({ what }) => !told.has(what))
    .map(({ object, symbol, what, next }) => ({
      object,
      text: `${symbol} ${next === "" ? what : `${what} (${next})`}`,
    }));
}

/** A fact that is no longer told is over: a suspension, or looks that were put off. */
function reconcilerChanges(before: Overview, now: Overview): readonly string[] {
  const [old, fresh] = [factsOf(before), factsOf(now)];
  const changed = [...fresh].filter(([label, text]) => old.get(label) !== text).map(([, text]) => text);
  const over = [...old.keys()].filter((label) => !fresh.has(label)).map((label) => `${label}: no longer`);
  const { problem } = now.reconciler;
  return [...changed, ...over, ...(problem === "" || problem === before.reconciler.problem ? [] : [problem])];
}

function factsOf(overview: Overview): ReadonlyMap<string, string> {
  return new Map(
    reconcilerLines(overview).map((line) => {
      const text = line.replace(/ {2,}/g, " ");
      return [/^[^:]+/.exec(text)?.[0] ?? text, text];
    }),
  );
}
