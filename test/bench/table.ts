import type { Figure } from "./figure.ts";

/** Figures that belong together. */
export interface Section {
  readonly title: string;
  readonly figures: readonly Figure[];
}

const HEAD = ["", "median", "worst", "runs", "wanted", "Go operator", ""] as const;

/** Lays sections out as one table with aligned columns; a broken bound is marked at the end of its line. Pure. */
export function renderTable(sections: readonly Section[]): string {
  const rows = sections.map(({ title, figures }) => ({ title, cells: figures.map(cellsOf) }));
  const all = [[...HEAD], ...rows.flatMap(({ cells }) => cells)];
  const widths = HEAD.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  const blocks = rows.map(({ title, cells }) => [title, ...cells.map(line)].join("\n"));
  return `${[line(HEAD), ...blocks].join("\n\n")}\n`;
}

function cellsOf({ what, median, worst, runs, wanted, goOperator, isBroken }: Figure): string[] {
  return [`  ${what}`, median, worst, String(runs), wanted, goOperator, isBroken ? "BROKEN" : ""];
}

function isNumber(column: number): boolean {
  return column >= 1 && column <= 3;
}
