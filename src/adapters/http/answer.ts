// How an HTTP answer with JSON is read: by schemas, whose types are derived. A value is canonical, or the error names its path.

import * as v from "valibot";
import { canonicalIPv4, canonicalIPv6 } from "../../model/address.ts";
import type { RecordType } from "../../model/record-types.ts";
import { oneLine } from "../../model/text.ts";
import type { AnswerHeaders } from "./request.ts";

/** An HTTP answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
  /** Set when the body broke off or did not arrive in time; `text` is then empty. */
  readonly bodyError?: Error;
}

/** An answer that is not what the API promises; the message names the path. Becomes ProviderError `malformed`. */
export class AnswerFault extends Error {
  override readonly name: string = "AnswerFault";
}

const EXCERPT_LENGTH = 160;

/**
 * Returns the JSON body of an answer. An empty body is a fault, never an empty value.
 * @throws AnswerFault when the content type is not JSON or the text does not parse; the error of a broken body as it is
 */
export function jsonOf(answer: Answer): unknown {
  if (answer.bodyError !== undefined) throw answer.bodyError;
  const type = (answer.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (answer.text === "") throw new AnswerFault("the body is empty");
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type)) {
    throw new AnswerFault(`${nameOfType(type, answer.text)} instead of JSON: ${excerptOf(answer.text)}`);
  }
  try {
    return JSON.parse(answer.text);
  } catch {
    throw new AnswerFault(`the JSON is broken or cut off after ${answer.text.length} characters`);
  }
}

function nameOfType(type: string, text: string): string {
  if (type === "text/html" || /^\s*<(?:!doctype|html)/i.test(text)) return "HTML";
  return type === "" ? "a body without content type" : type.slice(0, 40);
}

function excerptOf(text: string): string {
  const line = oneLine(text.slice(0, 4 * EXCERPT_LENGTH));
  return JSON.stringify(line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}…` : line);
}

/** Reads a JSON value of any kind as a T. Its messages say what was expected: `an IPv4 address`. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/**
 * Returns what a schema reads from a JSON value.
 * @throws AnswerFault for the first thing that is not as expected: `reserved_ips[1].ip is missing, not an IPv4 address`
 */
export function read<T>(schema: Schema<T>, value: unknown): T {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new AnswerFault(`${pathOf(issue) || "the body"} is ${describe(issue.input)}, not ${issue.message}`);
}

/** Returns what a schema reads from a JSON value; undefined if it cannot. */
export function readable<T>(schema: Schema<T>, value: unknown): T | undefined {
  const result = v.safeParse(schema, value, { abortEarly: true });
  return result.success ? result.output : undefined;
}

function pathOf({ path }: v.BaseIssue<unknown>): string {
  const keys = (path ?? []).map(({ key }) => key);
  return keys.reduce<string>(
    (text, key) => `${text}${typeof key === "number" ? `[${key}]` : `${text && "."}${String(key)}`}`,
    "",
  );
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return JSON.stringify(typeof value === "string" ? value.slice(0, 40) : value);
}

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads an object as it is. */
const FIELDS: Schema<Fields> = v.custom<Fields>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "an object",
);

/** Returns the fields of an object; none for any other value. */
export function fieldsOf(value: unknown): Fields {
  return readable(FIELDS, value) ?? {};
}

/** Returns a schema that depends on the fields of the object it reads. */
export function choose<T>(pick: (fields: Fields) => Schema<T>): Schema<T> {
  const chosen = v.lazy((fields: unknown) => pick(fields as Fields));
  return v.pipe(FIELDS, chosen as v.GenericSchema<Fields, T>);
}

/** Returns a schema whose values are made of those of another one. */
export function map<T, U>(schema: Schema<T>, make: (value: T) => U): Schema<U> {
  return v.pipe(schema, v.transform(make));
}

/** Returns a schema whose values must pass a test, too; they are called `expected` when they do not. */
export function check<T>(schema: Schema<T>, test: (value: T) => boolean, expected: string): Schema<T> {
  return v.pipe(schema, v.check(test, expected));
}

/** Returns a schema of an object with these fields. A field that is absent is read as `undefined`; others are left out. */
export function object<const Entries extends Readonly<Record<string, Schema<unknown>>>>(
  entries: Entries,
): Schema<{ [Key in keyof Entries]: v.InferOutput<Entries[Key]> }> {
  const keys = Object.keys(entries);
  // valibot's own message for an absent field does not say what was expected.
  const withAll = (value: Fields): Fields =>
    Object.fromEntries(keys.map((key) => [key, Object.hasOwn(value, key) ? value[key] : undefined]));
  return v.pipe(FIELDS, v.transform(withAll), v.object(entries)) as unknown as Schema<never>;
}

/** Returns a schema of a list, in order. */
export function list<T>(item: Schema<T>): Schema<T[]> {
  return v.array(item, "a list");
}

/** Returns a schema of a list that may be `null` or absent, and is empty then. */
export function anyList<T>(item: Schema<T>): Schema<T[]> {
  return v.nullish(list(item), []) as Schema<T[]>;
}

/** Returns a schema of a value that may be `null` or absent, and is undefined then. */
export function maybe<T>(schema: Schema<T>): Schema<T | undefined> {
  return map(v.nullish(schema) as Schema<T | null | undefined>, (value) => value ?? undefined);
}

/** Returns a schema of a text for which `test` holds, called `expected` when it is none: `a slug`. */
export function textLike(test: (text: string) => boolean, expected: string): Schema<string> {
  return v.custom<string>((value) => typeof value === "string" && test(value), expected);
}

/** Reads any value. */
export const ANY: Schema<unknown> = v.unknown();
/** Reads any text. */
export const TEXT: Schema<string> = v.string("text");
/** Reads true or false. */
export const FLAG: Schema<boolean> = v.boolean("true or false");
/** Reads a whole number >= 0 that JavaScript holds exactly. */
export const COUNT: Schema<number> = v.custom<number>(
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  "a whole number",
);
/** Reads a canonical IPv4 address. */
export const IPV4: Schema<string> = textLike((text) => canonicalIPv4(text) === text, "an IPv4 address");
/** Reads an IPv6 address, however it is written, as its canonical text. */
const IPV6: Schema<string> = map(
  textLike((text) => canonicalIPv6(text) !== undefined, "an IPv6 address"),
  (text) => canonicalIPv6(text) ?? text,
);
/** Reads the address that a record of a type holds. */
export const ADDRESS: Readonly<Record<RecordType, Schema<string>>> = { A: IPV4, AAAA: IPV6 };
