import { escapedJSON } from "../model/text.ts";
import type { Written } from "../snapshot/shape.ts";

/*
 * Long lists and maps of a YAML file, an entry a line, each entry as JSON, which is YAML, too:
 *
 *   pods:
 *     "worker-1": {"ready":1,"notReady":0}
 *     "worker-2": {"ready":1,"notReady":0}
 *
 * A world of 5,000 nodes takes some hundred milliseconds to write and to read like this. What parses YAML needs ten times as long, and in blocks it is half as long again.
 */

/** A list or map of so many entries is written an entry a line. */
const MANY = 100;

/** Stands for a list or map in a text. No text of a person has it: a text that has is not taken apart. */
const MARK = "@flipop-entries-";
const MARK_LINE = new RegExp(`^((?: |- )*)(.*: )?"?${MARK}(\\d+)"?$`, "gm");
/** The longest key that YAML knows without a sign before it, in its quotes. */
const LONGEST_KEY = 1000;

/**
 * Returns the text of a document.
 * @param render - returns the text of a document whose long lists and maps are words
 */
export function withEntryLines(document: Written, render: (document: Written) => string): string {
  const long: Written[] = [];
  const short = (value: Written): Written => {
    if (typeof value !== "object" || value === null) return value;
    if (isLong(value)) return `${MARK}${long.push(value) - 1}`;
    if (Array.isArray(value)) return value.map(short);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, short(one as Written)]));
  };
  const rest = short(document);
  if (long.length === 0) return render(document);
  const text = render(rest);
  const isMarked = text.split(MARK).length === long.length + 1;
  return isMarked
    ? text.replace(MARK_LINE, (_, before: string, key: string | undefined, at: string) => {
        const indent = " ".repeat(before.length + (key === undefined ? 0 : 2));
        const entries = entriesOf(long[Number(at)] ?? null).map((entry) => `${indent}${entry}`);
        return [`${before}${key ?? ""}`.trimEnd(), ...entries].join("\n");
      })
    : render(document);
}

function isLong(value: Written & object): boolean {
  if (Array.isArray(value)) return value.length >= MANY;
  const keys = Object.keys(value);
  return keys.length >= MANY && keys.every((key) => JSON.stringify(key).length <= LONGEST_KEY);
}

function entriesOf(value: Written): readonly string[] {
  const json = (one: unknown): string => escapedJSON(JSON.stringify(one));
  if (Array.isArray(value)) return value.map((one) => `- ${json(one)}`);
  return Object.entries(value as object).map(([key, one]) => `${json(key)}: ${json(one)}`);
}

const ENTRY = /^( *)(- |"(?:[^"\\]|\\.)*": )(?=[[{"\d\-tfn])/;

/**
 * Returns what a YAML text says.
 * @param parse - returns what a text says whose long lists and maps are words
 */
export function readEntryLines(text: string, parse: (text: string) => unknown): unknown {
  if (text.includes(MARK)) return parse(text);
  const lines = text.split("\n");
  const found: unknown[] = [];
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const end = endOfEntries(lines, at);
    const value = end - at < MANY || !isHead(kept.at(-1), line) ? undefined : jsonIn(lines.slice(at, end));
    if (value === undefined) {
      // Of a run that is no JSON no line is looked at again.
      kept.push(...lines.slice(at, Math.max(end, at + 1)));
      at = Math.max(end, at + 1) - 1;
      continue;
    }
    kept.push(`${indentOf(line)}"${MARK}${found.push(value) - 1}"`);
    at = end - 1;
  }
  return found.length === 0 ? parse(text) : filled(parse(kept.join("\n")), found);
}

/** Where the lines end that are entries like the first one, with the same indentation; there is none where the list or map goes on with other lines. */
function endOfEntries(lines: readonly string[], from: number): number {
  const [, indent, start = ""] = ENTRY.exec(lines[from] ?? "") ?? [];
  if (indent === undefined) return from;
  const isItem = start === "- ";
  let end = from;
  for (;;) {
    const [, own, begin = ""] = ENTRY.exec(lines[end] ?? "") ?? [];
    if (own !== indent || (begin === "- ") !== isItem) break;
    end += 1;
  }
  const next = lines.slice(end).find((line) => !/^\s*(?:#|$)/.test(line)) ?? "";
  return indentOf(next).length < indent.length || next === "" ? end : from;
}

/** True for a line that the entries below it are the value of. */
function isHead(head: string | undefined, entry: string): boolean {
  return head !== undefined && /(:|^ *-)$/.test(head) && indentOf(head).length < indentOf(entry).length;
}

function indentOf(line: string): string {
  return /^ */.exec(line)?.[0] ?? "";
}

/** Undefined for lines that are no JSON, and for a map with a key twice. */
function jsonIn(lines: readonly string[]): unknown {
  const isList = /^ *- /.test(lines[0] ?? "");
  const entries = lines.map((line) => line.trimStart().slice(isList ? 2 : 0));
  try {
    const value: unknown = JSON.parse(isList ? `[${entries.join(",")}]` : `{${entries.join(",")}}`);
    const isWhole = isList || Object.keys(value as object).length === lines.length;
    return isWhole ? value : undefined;
  } catch {
    return undefined;
  }
}

function filled(value: unknown, found: readonly unknown[]): unknown {
  if (typeof value === "string" && value.startsWith(MARK)) return found[Number(value.slice(MARK.length))];
  if (Array.isArray(value)) return value.map((one) => filled(one, found));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, found)]));
}
