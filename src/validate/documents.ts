import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type Tags,
  visit,
  type YAMLMap,
} from "yaml";
import { atOnce, type Steps } from "../plan/steps.ts";

/** A place in a text, both numbers counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The steps to a value: names of fields, and numbers of entries from 0. */
export type Path = readonly (string | number)[];

/** A path as texts have it: `spec.ips[0]`. */
export function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}

/** The steps of a path of {@link pathText} that has no dots in its names. */
export function pathSteps(text: string): Path {
  return text === ""
    ? []
    : text
        .replaceAll("[", ".[")
        .split(".")
        .map((part) => (part.startsWith("[") ? Number(part.slice(1, -1)) : part));
}

/** One value of a text, with its places. An entry of a `List` counts as a value of its own. */
export interface ManifestDocument {
  readonly value: unknown;
  /** Which document of the text it is in, from 1. */
  readonly number: number;
  /** Where the name of a field stands; where there is none, that of the object that lacks it. */
  keyAt(path: Path): Position;
  /** Where a value begins; `offset` characters further in, where it is a text that is written as it is. */
  valueAt(path: Path, offset?: number): Position;
}

/** Why a text, or a part of it, cannot be read. */
export interface Fault extends Position {
  readonly message: string;
}

/** What a text holds. */
export interface ManifestText {
  readonly documents: readonly ManifestDocument[];
  readonly faults: readonly Fault[];
}

/**
 * Reads a stream of YAML or JSON documents as kubectl does: YAML 1.1, in which `yes` is true, but neither times nor numbers to the base of 60. Empty documents are left out.
 * Never throws.
 */
export function readDocuments(text: string): ManifestText {
  return atOnce(documentsInSteps(text));
}

/** Does what {@link readDocuments} does, and stops again and again. */
export function* documentsInSteps(text: string): Steps<ManifestText> {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  const hasMark = text.startsWith("\uFEFF");
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { line, column: hasMark && line === 1 ? Math.max(col - 1, 1) : col };
  };
  const documents: ManifestDocument[] = [];
  const faults: Fault[] = [];
  let number = 0;
  for (const [start, part] of partsOf(text)) {
    for (const document of yield* parsed(part)) {
      yield;
      number += 1;
      const place = (offset: number): Position => position(start + offset);
      const found = faultsOf(document);
      faults.push(...found.map(({ offset, message }) => ({ ...place(offset), message })));
      if (found.length === 0) documents.push(...unwound(new Places(document, part, place), number));
    }
  }
  return { documents, faults };
}

/** So many words of a text are read before everything else gets a turn. */
const WORDS_IN_TURN = 1000;

function* parsed(text: string): Steps<readonly Document[]> {
  const parser = new Parser();
  const composer = new Composer({
    version: "1.1",
    customTags: withoutTimes,
    prettyErrors: false,
    logLevel: "silent",
    // Keys that stand twice are found by themselves: the parser compares each key with all before it.
    uniqueKeys: false,
  });
  const documents: Document[] = [];
  const take = (tokens: Iterable<CST.Token>): void => {
    for (const token of tokens) documents.push(...composer.next(token));
  };
  let words = 0;
  for (const word of new Lexer().lex(text)) {
    take(parser.next(word));
    words += 1;
    if (words % WORDS_IN_TURN === 0) yield;
  }
  take(parser.end());
  documents.push(...composer.end());
  return documents;
}

/** A text that begins with a brace is a stream of JSON values, which need nothing between them; any other one is a single part. With the offset of each part. */
function partsOf(text: string): readonly (readonly [start: number, part: string])[] {
  if (!/^\uFEFF?\s*\{/.test(text)) return [[0, text]];
  const parts: [number, string][] = [];
  let start = 0;
  for (const end of endsOfObjects(text)) {
    parts.push([start, text.slice(start, end)]);
    start = end;
  }
  const rest = text.slice(start);
  return rest.trim() === "" ? parts : [...parts, [start, rest]];
}

/** Where each outermost `{…}` ends; none behind one that is followed by anything but another one. */
function endsOfObjects(text: string): readonly number[] {
  const ends: number[] = [];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]|[^\s{}[\]"]+/gs)) {
    if (depth === 0 && token !== "{") return ends;
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    if (depth === 0) ends.push(index + 1);
  }
  return ends;
}

/** kubectl reads a date as a text, and so 1:30. */
function withoutTimes(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === "string" || (tag.format !== "TIME" && tag.tag !== "tag:yaml.org,2002:timestamp"),
  );
}

/** Each key that stands twice; of what else is wrong the first, since the others follow from it. */
function faultsOf(document: Document): readonly { readonly offset: number; readonly message: string }[] {
  const [wrong] = document.errors;
  if (wrong !== undefined) return [{ offset: wrong.pos[0], message: `not YAML: ${firstLine(wrong.message)}` }];
  const twice = keysThatStandTwice(document);
  if (twice.length > 0) return twice.map((offset) => ({ offset, message: "the key stands twice in its object" }));
  try {
    document.toJS();
    return [];
  } catch (error) {
    const message = error instanceof Error ? firstLine(error.message) : "its aliases cannot be resolved";
    return [{ offset: document.contents?.range?.[0] ?? 0, message: `not YAML: ${message}` }];
  }
}

/**
 * Returns where each key stands that its object has already, as offsets in the text in its order. The parser could tell, too. But it compares each key with all before it, which
 * takes seconds for ten thousand keys.
 */
function keysThatStandTwice(document: Document): readonly number[] {
  const offsets: number[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (names.has(key.value)) offsets.push(key.range?.[0] ?? 0);
        names.add(key.value);
      }
    },
  });
  return offsets.sort((a, b) => a - b);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}

/** The values of a document: the entries of a list of objects, or the one value itself. */
function unwound(places: Places, number: number): readonly ManifestDocument[] {
  const value: unknown = places.document.toJS();
  if (value === null || value === undefined) return [];
  const { items } = typeof value === "object" ? (value as { readonly items?: unknown }) : {};
  if (!Array.isArray(items)) return [entry(value, [])];
  return items.map((item: unknown, index) => entry(item, ["items", index]));

  function entry(one: unknown, base: Path): ManifestDocument {
    return {
      value: one,
      number,
      keyAt: (path) => places.at([...base, ...path], "key"),
      valueAt: (path, offset) => places.at([...base, ...path], "value", offset),
    };
  }
}

/** The places of one document's nodes. */
class Places {
  readonly document: Document;
  readonly #text: string;
  readonly #position: (offset: number) => Position;
  /** The fields of each object that was looked into, by their names. */
  readonly #fields = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

  constructor(document: Document, text: string, position: (offset: number) => Position) {
    this.document = document;
    this.#text = text;
    this.#position = position;
  }

  at(path: Path, part: "key" | "value", inside = 0): Position {
    let value = this.document.contents as Node | null;
    let key = value;
    for (const [index, step] of path.entries()) {
      const found = this.#step(value, step);
      if (found === undefined) return this.#place(key, 0);
      // A value that is left empty stands nowhere: its key does.
      key = found.key ?? found.value ?? key;
      value = found.value;
      if (index < path.length - 1 && isAlias(value)) value = value.resolve(this.document) ?? value;
    }
    return part === "value" && isWritten(value) ? this.#place(value, inside) : this.#place(key, 0);
  }

  #step(node: Node | null, step: string | number): { readonly key?: Node; readonly value: Node | null } | undefined {
    const holder = isAlias(node) ? node.resolve(this.document) : node;
    if (isSeq(holder)) {
      const value = typeof step === "number" ? (holder.items[step] as Node | null | undefined) : undefined;
      return value === undefined ? undefined : { value };
    }
    if (!isMap(holder)) return undefined;
    const own = this.#fieldsOf(holder).get(String(step));
    if (own !== undefined) return { key: own.key as Node, value: own.value as Node | null };
    return holder.items
      .filter((pair) => nameOf(pair) === "<<")
      .map((pair) => this.#step(pair.value as Node | null, step))
      .find((found) => found !== undefined);
  }

  #fieldsOf(holder: YAMLMap): ReadonlyMap<string, Pair> {
    const known = this.#fields.get(holder);
    if (known !== undefined) return known;
    const fields = new Map(holder.items.filter(isPair).map((pair) => [nameOf(pair), pair]));
    this.#fields.set(holder, fields);
    return fields;
  }

  #place(node: Node | null, inside: number): Position {
    const start = node?.range?.[0] ?? 0;
    if (inside === 0 || !isScalar(node) || typeof node.value !== "string") return this.#position(start);
    const quote = node.type === "PLAIN" ? 0 : 1;
    const isAsWritten = this.#text.startsWith(node.value, start + quote);
    return this.#position(isAsWritten ? start + quote + inside : start);
  }
}

function isWritten(node: Node | null): boolean {
  const [start = 0, end = 0] = node?.range ?? [];
  return end > start;
}

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : "";
}
