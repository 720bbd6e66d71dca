import { canonicalIPv4 } from "../../model/address.ts";
import { oneLine } from "../../model/text.ts";

const excerptLength = 160;

/** An HTTP answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Set when the body broke off or did not arrive in time; `text` is then empty. */
  readonly bodyError?: Error;
}

/**
 * The JSON body of an answer. An empty body is a fault, never an empty value.
 * @throws AnswerFault when the content type is not JSON or the text does not parse; a broken body is thrown as it is.
 */
export function jsonOf(answer: Answer): AnswerValue {
  if (answer.bodyError !== undefined) throw answer.bodyError;
  const type = (answer.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (answer.text === "") throw new AnswerFault("the body is empty");
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type)) {
    throw new AnswerFault(`${nameOfType(type, answer.text)} instead of JSON: ${excerptOf(answer.text)}`);
  }
  try {
    return new AnswerValue(JSON.parse(answer.text), "");
  } catch {
    throw new AnswerFault(`the JSON is broken or cut off after ${answer.text.length} characters`);
  }
}

function nameOfType(type: string, text: string): string {
  if (type === "text/html" || /^\s*<(?:!doctype|html)/i.test(text)) return "HTML";
  return type === "" ? "a body without content type" : type.slice(0, 40);
}

function excerptOf(text: string): string {
  const line = oneLine(text.slice(0, 4 * excerptLength));
  return JSON.stringify(line.length > excerptLength ? `${line.slice(0, excerptLength)}…` : line);
}

/** An answer that is not what the API promises; the message names the path. Becomes ProviderError `malformed`. */
export class AnswerFault extends Error {
  override readonly name: string = "AnswerFault";
}

/** A value inside a JSON answer that knows its path. Every reader returns the value in our form or throws AnswerFault. */
export class AnswerValue {
  /** The JSON value as parsed. */
  readonly raw: unknown;
  private readonly path: string;

  constructor(raw: unknown, path: string) {
    this.raw = raw;
    this.path = path;
  }

  /** True for `null` and for a field that is not there. */
  get isAbsent(): boolean {
    return this.raw === null || this.raw === undefined;
  }

  /** The field of an object, absent or not. */
  at(field: string): AnswerValue {
    if (typeof this.raw !== "object" || this.raw === null || Array.isArray(this.raw)) throw this.fault("an object");
    const fields = this.raw as Readonly<Record<string, unknown>>;
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
    return new AnswerValue(value, this.path === "" ? field : `${this.path}.${field}`);
  }

  /** The items of a list, in order. */
  items(): readonly AnswerValue[] {
    if (!Array.isArray(this.raw)) throw this.fault("a list");
    return this.raw.map((item, position) => new AnswerValue(item, `${this.path}[${position}]`));
  }

  /** A whole number >= 0 that JavaScript holds exactly. */
  count(): number {
    if (typeof this.raw !== "number" || !Number.isSafeInteger(this.raw) || this.raw < 0) {
      throw this.fault("a whole number");
    }
    return this.raw;
  }

  /** True or false. */
  flag(): boolean {
    if (typeof this.raw !== "boolean") throw this.fault("true or false");
    return this.raw;
  }

  /** Any text. */
  text(): string {
    if (typeof this.raw !== "string") throw this.fault("text");
    return this.raw;
  }

  /** A text of this form, which is called `expected` when it is none: `a slug`. */
  textLike(form: RegExp, expected: string): string {
    if (typeof this.raw !== "string" || !form.test(this.raw)) throw this.fault(expected);
    return this.raw;
  }

  /** A canonical IPv4 address. */
  ipv4(): string {
    const ip = typeof this.raw === "string" ? canonicalIPv4(this.raw) : undefined;
    if (ip === undefined) throw this.fault("an IPv4 address");
    return ip;
  }

  /** The fault that this value is not `expected`; says what it is, cut to 40 characters. */
  fault(expected: string): AnswerFault {
    return new AnswerFault(`${this.path || "the body"} is ${describe(this.raw)}, not ${expected}`);
  }
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return JSON.stringify(typeof value === "string" ? value.slice(0, 40) : value);
}
