/**
 * Kubernetes label selectors as `labels.Parse` reads them: `k=v k==v k!=v k in (a,b) k notin (a) k !k k>1 k<5`, joined by
 * commas that mean AND. `!=` and `notin` also match an absent key; the empty selector matches everything.
 */
export type LabelSelector = readonly Requirement[];

interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "absent" | "gt" | "lt";
  readonly values: readonly string[];
}

/** True when the labels satisfy every requirement of the selector. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return selector.every((requirement) =>
    satisfies(requirement, Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined),
  );
}

function satisfies({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case "in":
      return value !== undefined && values.includes(value);
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "absent":
      return value === undefined;
    case "gt":
    case "lt": {
      if (value === undefined || !INTEGER.test(value)) return false;
      const bound = BigInt(values[0] ?? "0");
      return operator === "gt" ? BigInt(value) > bound : BigInt(value) < bound;
    }
  }
}

const INTEGER = /^[+-]?\d+$/;
const TOKEN = /\s*(!=|==|[=!(),<>]|[^\s=!(),<>]+)/y;
const NAME = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Parses a selector.
 *
 * @returns the selector, or the reason it cannot be parsed, in words that name the offending part.
 */
export function parseLabelSelector(text: string): { readonly selector: LabelSelector } | { readonly error: string } {
  const tokens = tokenize(text);
  if (tokens.length === 0) return { selector: [] };
  const requirements: Requirement[] = [];
  const cursor = new Cursor(tokens);
  try {
    do requirements.push(parseRequirement(cursor));
    while (cursor.accept(","));
    if (!cursor.isAtEnd()) throw new SyntaxError(`found '${cursor.peek()}', expected: ',' or the end`);
  } catch (error) {
    if (error instanceof SyntaxError) return { error: `unable to parse requirement: ${error.message}` };
    throw error;
  }
  return { selector: requirements };
}

function tokenize(text: string): string[] {
  return Array.from(text.trimEnd().matchAll(new RegExp(TOKEN.source, "g")), (match) => match[1] ?? "");
}

class Cursor {
  readonly #tokens: readonly string[];
  #index = 0;
  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }
  peek(): string {
    return this.#tokens[this.#index] ?? "";
  }
  isAtEnd(): boolean {
    return this.#index >= this.#tokens.length;
  }
  accept(token: string): boolean {
    if (this.peek() !== token || this.isAtEnd()) return false;
    this.#index += 1;
    return true;
  }
  next(): string {
    const token = this.peek();
    this.#index += 1;
    return token;
  }
}

function parseRequirement(cursor: Cursor): Requirement {
  const isAbsent = cursor.accept("!");
  const key = parseKey(cursor);
  if (isAbsent) return { key, operator: "absent", values: [] };
  if (cursor.isAtEnd() || cursor.peek() === ",") return { key, operator: "exists", values: [] };
  const operator = cursor.next();
  switch (operator) {
    case "=":
    case "==":
      return { key, operator: "in", values: [parseValue(cursor)] };
    case "!=":
      return { key, operator: "notin", values: [parseValue(cursor)] };
    case ">":
    case "<":
      return { key, operator: operator === ">" ? "gt" : "lt", values: [parseInteger(cursor)] };
    case "in":
    case "notin":
      return { key, operator, values: parseValues(cursor) };
    default:
      throw new SyntaxError(`found '${operator}', expected: in, notin, =, ==, !=, >, <`);
  }
}

function parseKey(cursor: Cursor): string {
  const key = cursor.next();
  const [name, prefix, ...rest] = key.split("/").reverse();
  const isPrefixValid = prefix === undefined || (prefix.length <= 253 && PREFIX.test(prefix));
  if (rest.length > 0 || !NAME.test(name ?? "") || !isPrefixValid) {
    throw new SyntaxError(key === "" ? "found '', expected: !, identifier" : `key '${key}' is not a valid label key`);
  }
  return key;
}

function parseValue(cursor: Cursor): string {
  if (cursor.isAtEnd() || cursor.peek() === "," || cursor.peek() === ")") return "";
  const value = cursor.next();
  if (!NAME.test(value)) throw new SyntaxError(`value '${value}' is not a valid label value`);
  return value;
}

function parseInteger(cursor: Cursor): string {
  const value = cursor.next();
  if (!INTEGER.test(value)) throw new SyntaxError(`'${value}' is not an integer, as '>' and '<' need`);
  return value;
}

function parseValues(cursor: Cursor): string[] {
  if (!cursor.accept("(")) throw new SyntaxError(`found '${cursor.peek()}', expected: '('`);
  if (cursor.peek() === ")") throw new SyntaxError("for 'in', 'notin' operators, values set can't be empty");
  const values = [parseValue(cursor)];
  while (cursor.accept(",")) values.push(parseValue(cursor));
  if (!cursor.accept(")")) throw new SyntaxError(`found '${cursor.peek()}', expected: ')'`);
  return values;
}
