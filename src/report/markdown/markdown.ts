import { plain } from "../../model/text.ts";
import { categoryOf, messageOf } from "../text/errors.ts";

// What `-o markdown` prints stands in comments on pull requests. Whatever comes from outside is shown as it is: it forms no heading, list, table, link or HTML, and calls nobody.

/** The most characters of a text. A comment at GitHub holds 65,536; what is left is for whoever posts it. */
const MOST = 65_000;
/** The most characters of one cell or item, before they are escaped. */
const MOST_IN_CELL = 1000;

/** Returns a text from outside as Markdown that shows it, in one line. */
export function shown(text: string): string {
  const line = plain(text);
  const cut = line.length > MOST_IN_CELL ? `${withoutHalf(line.slice(0, MOST_IN_CELL))}…` : line;
  return cut
    .replace(/[&<>]/g, (character) => ENTITIES.get(character) ?? character)
    .replace(/[\\`*_[\]|~]/g, "\\$&")
    .replace(/[@#!](?=\w)/g, "$&<!-- -->")
    .replace(/^[-+#=]|^\d+(?=[.)](?: |$))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`))
    .replace(/\$|(?<=www)\.|(?<=:)\/(?=\/)/gi, (character) => `&#${character.charCodeAt(0)};`);
}

/** A character behind U+FFFF has two halves. */
function withoutHalf(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, "");
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
]);

/** Returns a name as Markdown that shows it as code. */
export function code(name: string): string {
  return /^[\w./:@+=~>! -]+$/.test(name) ? `\`${name}\`` : `<code>${shown(name)}</code>`;
}

/** Returns a text of several lines as Markdown for one cell or item. */
export function shownLines(text: string): string {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(shown)
    .join("<br>");
}

/** Returns texts as an item of a list: `- **pool/ingress/web**: it waits`. What is empty is left out. */
export function item(what: string, why: string): string {
  return `- ${[shown(what), shownLines(why)].filter((part) => part !== "").join(what.endsWith(".") ? " " : ": ")}`;
}

/** A part of a text: what stands before and behind its rows, and the rows. Of a long text rows are left out, from the end. */
export interface Part {
  readonly head: readonly string[];
  readonly rows: readonly string[];
  readonly tail: readonly string[];
  /** What one of its rows is called, and several. */
  readonly nouns: readonly [one: string, many: string];
}

/** Returns a part that is a table. The cells are Markdown. */
export function tablePart(titles: readonly string[], rows: readonly (readonly string[])[], nouns: Part["nouns"]): Part {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return {
    head: [line(titles), `|${"---|".repeat(titles.length)}`],
    rows: rows.map(line),
    tail: [""],
    nouns,
  };
}

/** Returns a part that is a list, under a heading in bold or, with `""`, without one; the rows are items. */
export function listPart(heading: string, rows: readonly string[], nouns: Part["nouns"]): Part {
  return { head: heading === "" ? [] : [`**${heading}**`, ""], rows, tail: [""], nouns };
}

/** Returns a part that a reader unfolds. The summary is of flipop's own words. */
export function folded(summary: string, { head, rows, tail, nouns }: Part): Part {
  return {
    head: [`<details><summary>${summary}</summary>`, "", ...head],
    rows,
    tail: [...tail, "</details>", ""],
    nouns,
  };
}

/** What a Markdown text is made of. */
export interface MarkdownText {
  /** Of a comment that nobody sees, by which a program finds the text again: `flipop plan`. */
  readonly marker: string;
  /** Without a full stop. */
  readonly heading: string;
  /** Paragraphs and items; always whole. */
  readonly lead: readonly string[];
  /** The most important first; those without rows are left out. */
  readonly parts: readonly Part[];
  /** A command that shows what is left out. */
  readonly whole: string;
}

/** Returns the text, at most so long that a comment at GitHub holds it. What is left out for that is counted in its last line. Ends with a line end. */
export function markdownText({ marker, heading, lead, parts, whole }: MarkdownText): string {
  const there = parts.filter(({ rows }) => rows.length > 0);
  const start = [`<!-- ${marker} -->`, `### ${shown(heading)}`, "", ...lead, ""];
  const room =
    MOST -
    lengthOf(start) -
    lengthOf([
      leftOutLine(
        there,
        there.map(() => 0),
        whole,
      ),
    ]);
  const counts = rowsThatFit(there, room);
  const body = there.flatMap(({ head, rows, tail }, at) => {
    const own = rows.slice(0, counts[at] ?? 0);
    return own.length === 0 ? [] : [...head, ...own, ...tail];
  });
  const isWhole = there.every(({ rows }, at) => rows.length === counts[at]);
  const lines = [...start, ...body, ...(isWhole ? [] : [leftOutLine(there, counts, whole)])];
  return `${lines.join("\n").trimEnd()}\n`;
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

/** How many rows of each part there is room for: first each takes at most half of what those before it left, so that none stays without; then the first ones take the rest. */
function rowsThatFit(parts: readonly Part[], room: number): readonly number[] {
  const counts = parts.map(() => 0);
  let left = room;
  const grow = (at: number, limit: number): void => {
    const { head, rows, tail } = parts[at] ?? NO_PART;
    let mine = 0;
    for (let count = counts[at] ?? 0; count < rows.length; count += 1) {
      const row = lengthOf([rows[count] ?? ""]) + (count === 0 ? lengthOf([...head, ...tail]) : 0);
      if (mine + row > limit) break;
      mine += row;
      counts[at] = count + 1;
    }
    left -= mine;
  };
  for (const at of parts.keys()) grow(at, left / 2);
  for (const at of parts.keys()) grow(at, left);
  return counts;
}

const NO_PART: Part = { head: [], rows: [], tail: [], nouns: ["", ""] };

function leftOutLine(parts: readonly Part[], counts: readonly number[], whole: string): string {
  const missing = parts.flatMap(({ rows, nouns: [one, many] }, at) => {
    const count = rows.length - (counts[at] ?? 0);
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return `Left out, since a comment holds no more: ${missing.join(", ")}. ${code(whole)} shows all.`;
}

/** Returns why a command could not do its work, as Markdown. */
export function errorMarkdown(error: unknown, exitCode: number): string {
  return [
    "<!-- flipop error -->",
    "### flipop could not do it",
    "",
    shown(messageOf(error)),
    "",
    `Exit code ${exitCode} (${categoryOf(error)})`,
    "",
  ].join("\n");
}
