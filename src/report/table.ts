/** A cell: its text, and how to paint it once it is padded. */
export interface Cell {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

/**
 * Renders rows under a header, columns separated by three spaces as kubectl does, one line per row, no trailing spaces. With
 * `width`, lines end with `…` where they would be longer; without, nothing is ever cut.
 */
export function renderTable(header: readonly string[], rows: readonly (readonly Cell[])[], width?: number): string {
  const all = [header.map((text): Cell => ({ text })), ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.text.length ?? 0)));
  return all.map((row) => `${renderRow(row, widths, width ?? Number.POSITIVE_INFINITY)}\n`).join("");
}

function renderRow(row: readonly Cell[], widths: readonly number[], limit: number): string {
  const total = row.reduce((sum, cell, i) => sum + (i === row.length - 1 ? cell.text.length : (widths[i] ?? 0) + 3), 0);
  let room = total > limit ? limit - 1 : limit;
  const parts: string[] = [];
  for (const [index, cell] of row.entries()) {
    const isLast = index === row.length - 1;
    const shown = cell.text.slice(0, Math.max(room, 0));
    const padding = isLast
      ? 0
      : Math.min((widths[index] ?? 0) + 3 - cell.text.length, Math.max(room - shown.length, 0));
    parts.push((cell.paint?.(shown) ?? shown) + " ".repeat(padding));
    room -= shown.length + padding;
  }
  return total > limit ? `${parts.join("")}…` : parts.join("").trimEnd();
}
