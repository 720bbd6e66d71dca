/** How a text is laid out: its colours, and the width of the terminal where there is one. */
export interface Layout {
  readonly palette: Palette;
  readonly width?: number;
}

/** The symbols of plans and runs; `!` is blocked or in error, `.` held, `=` unchanged. */
export type EntrySymbol = "+" | "-" | "~" | ">" | "=" | "." | "!" | "?";

const PAINT: Readonly<Record<EntrySymbol, keyof Palette>> = {
  "+": "good",
  "-": "bad",
  "~": "notable",
  ">": "notable",
  "=": "faint",
  ".": "faint",
  "!": "bad",
  "?": "notable",
};

/** What one line of a plan, a run or a status is about, and why: of the lines of `why` each says one thing; `""` = nothing. */
export interface Entry {
  readonly symbol: EntrySymbol;
  readonly what: string;
  readonly why: string;
}

/** Entries under a heading that says what they have in common. */
export interface Block {
  readonly heading: string;
  readonly entries: readonly Entry[];
}

/** Returns entries as {@link entryLines} lays each of them out. */
export function linesOf(entries: readonly Entry[], layout: Layout): string[] {
  return entries.flatMap(({ symbol, what, why }) => entryLines(symbol, what, why, layout));
}

/** Returns blocks as lines, an empty line behind each. */
export function blockLines(blocks: readonly Block[], layout: Layout): string[] {
  return blocks.flatMap(({ heading, entries }) => [heading, ...linesOf(entries, layout), ""]);
}

/** Returns one entry: the symbol and what it is about, and below it, further in, why. Lines without line ends. */
export function entryLines(symbol: EntrySymbol, what: string, why: string, { palette, width }: Layout): string[] {
  const [first = "", ...rest] = wrap(what, "    ", width);
  const head = [`  ${painted(symbol, palette)} ${first.slice(4)}`, ...rest];
  return why === ""
    ? head
    : [
        ...head,
        ...why.split("\n").flatMap((line) => wrap(line.trim(), "      ", width).map((text) => palette.faint(text))),
      ];
}

/** Returns a symbol in its colour. */
export function painted(symbol: EntrySymbol, palette: Palette): string {
  return palette[PAINT[symbol]](symbol);
}

/** A cell: its text, and how to paint it once it is padded. */
export interface Cell {
  readonly text: string;
  /** What stands in its place where the terminal is too narrow; absent = its text, without its middle if need be. */
  readonly short?: string;
  readonly paint?: (text: string) => string;
}

/** What a table gives up where the terminal is too narrow for it. */
interface TableWidth {
  /** Absent = nothing is ever given up. */
  readonly width?: number | undefined;
  /** Of each column, when it is left out, the lowest number first; undefined = never. */
  readonly spare?: readonly (number | undefined)[];
}

/**
 * Renders rows under a header, columns separated by three spaces as kubectl does, one line per row, no trailing spaces. Where lines would be longer than `width`, spare
 * columns are left out, one after the other; before those that say most, cells take their short text; then a title ends before its slash: `ACTIVE` for `ACTIVE/DESIRED`; then no column but the last takes more than a third of the width, so that one long name costs the other columns nothing; then what the last column says stands below the row, with its title; then lines end with `…`.
 */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  sizes: TableWidth = {},
): string {
  return tableEntries(header, rows, sizes)
    .map((line) => `${line}\n`)
    .join("");
}

/** Does what {@link renderTable} does, and returns the header and each row by itself: a row may have several lines. */
export function tableEntries(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  { width = Number.POSITIVE_INFINITY, spare = [] }: TableWidth = {},
): readonly string[] {
  const kept = withoutSpare([header.map((text): Cell => ({ text })), ...rows], spare, width);
  const whole = lengthOf(kept, kept[0]?.length ?? 0) > width ? withShortTitles(kept) : kept;
  const columns = whole[0]?.length ?? 0;
  const all = lengthOf(whole, columns) > width ? whole.map((row) => narrowed(row, Math.floor(width / 3))) : whole;
  const isLastBelow = columns > 2 && lengthOf(all, columns) > width;
  const beside = isLastBelow ? all.map((row) => row.slice(0, -1)) : all;
  const widths = widthsOf(beside, beside[0]?.length ?? 0);
  const title = isLastBelow ? (all[0]?.at(-1)?.text ?? "") : "";
  return beside.map((row, at) => {
    const below = isLastBelow && at > 0 ? belowRow(title, all[at]?.at(-1), width) : [];
    return [renderRow(row, widths, width), ...below].join("\n");
  });
}

/** What the last cell of a row says, below the row; nothing where it says nothing. */
function belowRow(title: string, { text, paint = (same) => same }: Cell = { text: "" }, width: number): string[] {
  return text === "" || text === "-" ? [] : wrap(`${title}: ${text}`, "    ", width).map(paint);
}

function withShortTitles([titles = [], ...rows]: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
  return [titles.map((title) => ({ ...title, text: title.text.split("/", 1)[0] ?? "" })), ...rows];
}

/** The highest rank of columns that say less than what short texts give up. */
const BEFORE_SHORT = 2;

/** Returns the rows without as many of the spare columns as they are too long for. */
function withoutSpare(
  rows: readonly (readonly Cell[])[],
  spare: readonly (number | undefined)[],
  width: number,
): readonly (readonly Cell[])[] {
  const ranks = [...new Set([0, ...spare.filter((rank) => rank !== undefined)])].toSorted((a, b) => a - b);
  const shorter = rows.map((row) => row.map(({ short, ...cell }) => ({ ...cell, text: short ?? cell.text })));
  const without = (some: readonly (readonly Cell[])[], last: number): readonly (readonly Cell[])[] =>
    some.map((row) => row.filter((_, column) => (spare[column] ?? Number.POSITIVE_INFINITY) > last));
  const kept = [
    ...ranks.filter((rank) => rank <= BEFORE_SHORT).map((rank) => without(rows, rank)),
    without(shorter, BEFORE_SHORT),
    ...ranks.filter((rank) => rank > BEFORE_SHORT).map((rank) => without(shorter, rank)),
  ];
  return kept.find((some) => lengthOf(some, some[0]?.length ?? 0) <= width) ?? kept.at(-1) ?? rows;
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

/** Returns the words of a text in lines of at most `width` characters, each behind `indent`. No width = one line. */
export function wrap(text: string, indent: string, width?: number): string[] {
  if (width === undefined) return [indent + text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}

/** Returns `1 node`, `2 nodes`, `0 nodes`; `plural` where adding an s is wrong. */
export function countText(count: number, singular: string, plural: string = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Returns `a`, `a and b`, `a, b and c`; beyond `most` entries `a, b and 5 more`. */
export function listText(items: readonly string[], most: number = Number.POSITIVE_INFINITY): string {
  const shown = items.length > most ? [...items.slice(0, most), `${items.length - most} more`] : items;
  const last = shown.at(-1) ?? "";
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(", ")} and ${last}`;
}

/** How a text is emphasised; each function returns its argument with or without terminal codes around it. */
export interface Palette {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly notable: (text: string) => string;
}

/** The palette of a pipe: no codes at all. */
export const PLAIN: Palette = {
  strong: (text) => text,
  faint: (text) => text,
  good: (text) => text,
  bad: (text) => text,
  notable: (text) => text,
};
