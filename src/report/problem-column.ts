import type { Palette } from "./palette.ts";
import type { Readiness } from "./readiness.ts";
import type { Cell } from "./table.ts";

/** The column of what waits for a person, for the header and for each row; empty where nothing does. */
export interface ProblemColumn {
  readonly header: readonly string[];
  readonly cells: (row: Readiness) => readonly Cell[];
}

/** Returns the column PROBLEM of a table of objects: the reason of each one's condition Stalled. */
export function problemColumn(rows: readonly Readiness[], palette: Palette): ProblemColumn {
  if (rows.every(({ stalled }) => stalled === undefined)) return { header: [], cells: () => [] };
  return {
    header: ["PROBLEM"],
    cells: ({ stalled }) => [stalled === undefined ? { text: "-" } : { text: stalled.reason, paint: palette.bad }],
  };
}
