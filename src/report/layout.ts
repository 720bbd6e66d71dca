import type { Palette } from "./palette.ts";
import { wrap } from "./wrap.ts";

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

/** Returns one entry: the symbol and what it is about, and below it, further in, why. Lines without line ends. */
export function entryLines(symbol: EntrySymbol, what: string, why: string, { palette, width }: Layout): string[] {
  const [first = "", ...rest] = wrap(what, "    ", width);
  const paint = palette[PAINT[symbol]];
  const head = [`  ${paint(symbol)} ${first.slice(4)}`, ...rest];
  return why === ""
    ? head
    : [
        ...head,
        ...why.split("\n").flatMap((line) => wrap(line.trim(), "      ", width).map((text) => palette.faint(text))),
      ];
}
