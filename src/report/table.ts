/** A cell: its text, and how to paint it once it is padded. */
export interface Cell {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

/**
 * Renders rows under a header, columns separated by three spaces as kubectl does, one line per row, no trailing spaces. With
 * `width`, lines end with `…` where they would be longer, and before that no column but the last takes more than a third of the width: one
 * long name costs the other columns nothing. Without `width` nothing is ever cut.
 */
export function renderTable(header: readonly string[], rows: readonly (readonly Cell[])[], width?: number): string {
  const whole = [header.map((text): Cell => ({ text })), ...rows];
  const limit = width ?? Number.POSITIVE_INFINITY;
  const all = lengthOf(whole, header.length) > limit ? whole.map((row) => narrowed(row, Math.floor(limit / 3))) : whole;
  const widths = widthsOf(all, header.length);
  return all.map((row) => `${renderRow(row, widths, limit)}\n`).join("");
}

function widthsOf(rows: readonly (readonly Cell[])[], columns: number): readonly number[] {
  return Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => row[column]?.text.length ?? 0)));
}

/** The length of the longest line. */
function lengthOf(rows: readonly (readonly Cell[])[], columns: number): number {
  return widthsOf(rows, columns).reduce((sum, width) => sum + width, 3 * (columns - 1));
}

/** Every cell but the last with at most so many characters: what is too long loses its middle, since names differ at both ends. */
function narrowed(row: readonly Cell[], most: number): readonly Cell[] {
  return row.map((cell, at) => {
    const { text } = cell;
    if (at === row.length - 1 || text.length <= most) return cell;
    const kept = most - 1;
    return { ...cell, text: `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}` };
  });
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
