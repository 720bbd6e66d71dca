import { formatTime, parseTime } from "../../model/time.ts";

/** Stands for a value that is there but cannot be read: it is broken, or has a wrong type. */
export const UNREADABLE: unique symbol = Symbol("unreadable");
/** Marks an object whose bytes ended too early. Any member that it lacks may have been lost. */
export const CUT_OFF: unique symbol = Symbol("cut off");

/** False for absent, `null` and `""`: Kubernetes means nothing by them. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** True for an object that ended too early. */
export function isCutOff(value: unknown): boolean {
  return typeof value === "object" && value !== null && CUT_OFF in value;
}

/** True for a value that is there but that `read`, one of the functions below, cannot read. */
export function isOdd(value: unknown, read: (value: unknown) => unknown): boolean {
  return isPresent(value) && (read(value) === undefined || isCutOff(value));
}

/** The value as an object with unknown members; undefined for null, arrays and everything else. No effects. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

/** The value as a list; empty for everything that is none. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; undefined for everything else and for `""`, which Kubernetes treats like absent. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value as a finite number; undefined for everything else, numbers in quotes included. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The value as an integer that is kept exactly; undefined for everything else. */
export function asInteger(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

/** The value as JSON; undefined for `undefined`, and for a value nested too deeply for JSON.stringify. The API server takes such a value if the schema does not forbid it. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The value as true or false; undefined for everything else. */
export function asFlag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** Milliseconds since the epoch of an RFC 3339 text (see {@link parseTime}) or of a Date, which protobuf is read as; undefined for everything else. */
export function asTimeMs(value: unknown): number | undefined {
  if (value instanceof Date) return value.getTime();
  return typeof value === "string" ? parseTime(value) : undefined;
}

/** The members of an object whose values are text, in their order; empty for everything that is no object. */
export function asTextMap(value: unknown): Readonly<Record<string, string>> {
  const members = Object.entries(asRecord(value) ?? {});
  return Object.fromEntries(members.filter((member): member is [string, string] => typeof member[1] === "string"));
}

/** The value if it is an object whose members are all text; undefined for everything else. */
export function asWholeTextMap(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const map = asRecord(value);
  return map !== undefined && Object.values(map).every((member) => typeof member === "string") ? map : undefined;
}

/** The entries of a list that are text, in their order; empty for everything that is no list. */
export function asTexts(value: unknown): readonly string[] {
  return asList(value).filter((entry) => typeof entry === "string");
}

/** A hundred years. RFC 3339 ends with the year 9999, a JSON number does not. */
const LONGEST_SECONDS = 100 * 365 * 86_400;

/**
 * Reads the members of one spec object and notes what is of the wrong type, with its path. `null`, `""` and absent give
 * the default. Problems of nested readers arrive in the same list, in reading order.
 */
export class SpecReader {
  readonly #record: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #problems: string[];

  /** @param problems collects one sentence for each wrong part. */
  constructor(value: unknown, path: string, problems: string[]) {
    this.#path = path;
    this.#problems = problems;
    const record = asRecord(value);
    if (record === undefined && value !== undefined && value !== null) this.#wrong("", "an object", value);
    this.#record = record ?? {};
  }

  /** True when the member is there and not null. */
  has(name: string): boolean {
    return (this.#record[name] ?? undefined) !== undefined;
  }

  /** Text; the default for absent and `""`. */
  text(name: string, otherwise = ""): string {
    const value = this.#record[name] ?? "";
    if (typeof value !== "string") return this.#wrong(name, "text", value) ?? otherwise;
    return value === "" ? otherwise : value;
  }

  /** One of some words; the default for absent and `""`. */
  word<T extends string>(name: string, words: readonly T[], otherwise: T): T {
    const text = this.text(name, otherwise);
    const word = words.find((candidate) => candidate === text);
    return word ?? this.#wrong(name, words.join(" or "), text) ?? otherwise;
  }

  /** A number of at least 0; the default for absent and 0. */
  number(name: string, otherwise = 0): number {
    const value = this.#record[name] ?? 0;
    if (typeof value !== "number" || !(value >= 0)) return this.#wrong(name, "a number of at least 0", value) ?? 0;
    return value === 0 ? otherwise : value;
  }

  /** A length of time of at least 0 seconds; 0 for absent. Longer than a hundred years counts as that, so that a time counted from it can always be written down. */
  seconds(name: string): number {
    return Math.min(this.number(name), LONGEST_SECONDS);
  }

  /** An integer of at least 0; the default for absent and 0. */
  integer(name: string, otherwise = 0): number {
    const value = this.#record[name] ?? 0;
    if (Number.isSafeInteger(value)) return this.number(name, otherwise);
    return this.#wrong(name, "an integer of at least 0", value) ?? otherwise;
  }

  /** Text, or an integer of at least 0 as text; `""` for absent, which is a problem when it is required. */
  integerOrText(name: string, isRequired: boolean): string {
    const value = this.#record[name] ?? "";
    if (value === "" && isRequired) return this.#wrong(name, "an integer or a text that is not empty", value) ?? "";
    if (typeof value === "string") return value;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return String(value);
    return this.#wrong(name, "an integer of at least 0 or text", value) ?? "";
  }

  /** A number of either sign, 0 included; undefined for absent. */
  signedNumber(name: string): number | undefined {
    const value = this.#record[name] ?? undefined;
    return value === undefined || typeof value === "number" ? value : this.#wrong(name, "a number", value);
  }

  /** True or false; false for absent. */
  flag(name: string): boolean {
    const value = this.#record[name] ?? false;
    return typeof value === "boolean" ? value : (this.#wrong(name, "true or false", value) ?? false);
  }

  /** The entries of a list; empty for absent. */
  list(name: string): readonly unknown[] {
    const value = this.#record[name] ?? [];
    return Array.isArray(value) ? value : (this.#wrong(name, "a list", value) ?? []);
  }

  /** A reader for a member that is an object; reads defaults when it is absent. */
  object(name: string): SpecReader {
    return new SpecReader(this.#record[name], `${this.#path}.${name}`, this.#problems);
  }

  /** Readers for the entries of a list of objects; empty for absent. */
  objects(name: string): readonly SpecReader[] {
    return this.list(name).map(
      (entry, index) => new SpecReader(entry ?? {}, `${this.#path}.${name}[${index}]`, this.#problems),
    );
  }

  #wrong(name: string, expected: string, value: unknown): undefined {
    const path = name === "" ? this.#path : `${this.#path}.${name}`;
    this.#problems.push(`${path} must be ${expected}, not ${describe(value)}`);
  }
}

/** The value as JSON when it is short, else its type. */
function describe(value: unknown): string {
  const json = jsonText(value);
  if (json !== undefined && json.length <= 40) return json;
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a long ${typeof value}`;
}

/**
 * A Kubernetes `MicroTime` of a time in milliseconds: RFC 3339 in UTC with exactly 6 decimals. The API server refuses other
 * precisions with a 400 (kube-apiserver v1.35.4, verified 2026-08).
 */
export function microTime(ms: number): string {
  return `${formatTime(ms).slice(0, -1)}000Z`;
}
