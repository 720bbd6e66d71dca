import { asRecord, jsonText } from "./json-value.ts";

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
