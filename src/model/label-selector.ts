import type { PodSelector } from "./node.ts";
import { isNamespaceName, isSubdomain, NAMESPACE_RULE, shownText } from "./resource.ts";

/**
 * A Kubernetes label selector, read and applied exactly as Kubernetes does it: flipop judges nodes itself and lets the API
 * server judge pods, so both must agree on every text.
 *
 *   k   !k   k=v   k==v   k!=v   k in (a,b)   k notin (a)   k>1   k<5      a comma means AND
 *
 * `!=` and `notin` also match an absent key. The empty selector matches everything. A value may be empty: `k=`, `k in ()`.
 * @see k8s.io/apimachinery v0.35.4, pkg/labels/selector.go; compared with kube-apiserver 1.35.4 on 2026-11-22
 */
export interface LabelSelector {
  /** The keys that must be present. */
  readonly required: readonly string[];
  /** Key → all that the selector asks of its value. So a selector of a mebibyte is judged as fast as a short one. */
  readonly demands: ReadonlyMap<string, Demand>;
}

/** All that a selector asks of one key. It is looked at only where the key is present. */
interface Demand {
  /** False where the key must be absent. */
  readonly mayExist: boolean;
  /** The value is one of these; undefined = any value. */
  readonly allowed: ReadonlySet<string> | undefined;
  /** The value is none of these. */
  readonly refused: ReadonlySet<string>;
  /** The value is an integer above this. */
  readonly above: bigint | undefined;
  readonly below: bigint | undefined;
}

/** A selector with more keys than this is judged label by label, since an object has few labels. */
const MANY_KEYS = 32;

/** True if the labels satisfy the whole selector. */
export function selects({ required, demands }: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  if (demands.size === 0) return true;
  if (!required.every((key) => Object.hasOwn(labels, key))) return false;
  for (const key of demands.size <= MANY_KEYS ? demands.keys() : Object.keys(labels)) {
    const demand = demands.get(key);
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (demand !== undefined && value !== undefined && !admits(demand, value)) return false;
  }
  return true;
}

function admits({ mayExist, allowed, refused, above, below }: Demand, value: string): boolean {
  if (!mayExist || allowed?.has(value) === false || refused.has(value)) return false;
  if (above === undefined && below === undefined) return true;
  const number = parseInt64(value);
  if (number === undefined) return false;
  return (above === undefined || number > above) && (below === undefined || number < below);
}

const INTEGER = /^[+-]?[0-9]+$/;
const LEAST_INT64 = -(2n ** 63n);
const MOST_INT64 = 2n ** 63n - 1n;

/** As Go's `strconv.ParseInt(text, 10, 64)`; undefined where that fails. */
function parseInt64(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined;
  const number = BigInt(text.replace("+", ""));
  return number < LEAST_INT64 || number > MOST_INT64 ? undefined : number;
}

/** One requirement as written. */
interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "absent" | "gt" | "lt";
  readonly values: readonly string[];
}

/** Why a selector cannot be parsed, and where the part that is wrong begins, from 0. */
export interface UnreadableSelector {
  readonly error: string;
  readonly offset: number;
}

/**
 * Parses a selector.
 *
 * @returns the selector, or the reason it cannot be parsed, in words that name the offending part.
 */
export function parseLabelSelector(text: string): { readonly selector: LabelSelector } | UnreadableSelector {
  const tokens = tokenize(text);
  if (tokens.length === 0) return EVERYTHING;
  const requirements: Requirement[] = [];
  const cursor = new Cursor(tokens);
  try {
    do requirements.push(parseRequirement(cursor));
    while (cursor.accept(","));
    if (!cursor.isAtEnd()) throw new SyntaxError(`found '${shownText(cursor.peek())}', expected: ',' or the end`);
  } catch (error) {
    if (error instanceof SyntaxError)
      return { error: `unable to parse requirement: ${error.message}`, offset: cursor.offset() ?? text.length };
    throw error;
  }
  return { selector: compile(requirements) };
}

const EVERYTHING = { selector: { required: [], demands: new Map() } };

/** White space is a blank, a tab, CR or LF, and nothing else. */
const TOKEN = /[ \t\r\n]*(!=|==|[=!(),<>]|[^ \t\r\n=!(),<>\0]+)\0?/gy;

/**
 * Cuts a selector into tokens. The lexer of Kubernetes takes NUL for the end of its input: a NUL ends a token, and in a
 * place where a token would begin it ends the selector, whatever follows.
 */
function tokenize(text: string): readonly Token[] {
  return Array.from(text.matchAll(TOKEN), ({ 0: whole, 1: word = "", index }) => ({
    word,
    offset: index + whole.indexOf(word),
  }));
}

interface Token {
  readonly word: string;
  readonly offset: number;
}

class Cursor {
  readonly #tokens: readonly Token[];
  #index = 0;
  #looked = 0;
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }
  peek(): string {
    this.#looked = this.#index;
    return this.#tokens[this.#index]?.word ?? "";
  }
  /** Where the token begins that was looked at last; undefined behind the last one. */
  offset(): number | undefined {
    return this.#tokens[this.#looked]?.offset;
  }
  isAtEnd(): boolean {
    return this.#index >= this.#tokens.length;
  }
  accept(token: string): boolean {
    if (this.isAtEnd() || this.peek() !== token) return false;
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
      return { key, operator: operator === ">" ? "gt" : "lt", values: [parseBound(cursor)] };
    case "in":
    case "notin":
      return { key, operator, values: parseValues(cursor) };
    default:
      throw new SyntaxError(`found '${shownText(operator)}', expected: in, notin, =, ==, !=, >, <`);
  }
}

function parseKey(cursor: Cursor): string {
  const key = cursor.next();
  const [name = "", prefix, ...rest] = key.split("/").reverse();
  if (name !== "" && isLabelValue(name) && (prefix === undefined || isSubdomain(prefix)) && rest.length === 0)
    return key;
  const why = key === "" ? "found '', expected: !, identifier" : `key '${shownText(key)}' is not a valid label key`;
  throw new SyntaxError(why);
}

const VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** True for the value of a label: at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends; or nothing. */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && VALUE.test(text);
}

/** One value, which is empty where a comma follows, or the end, or one of `ends`. */
function parseValue(cursor: Cursor, ...ends: readonly string[]): string {
  if (cursor.isAtEnd() || [",", ...ends].includes(cursor.peek())) return "";
  const value = cursor.next();
  if (!isLabelValue(value)) throw new SyntaxError(`value '${shownText(value)}' is not a valid label value`);
  return value;
}

/** Returns the number that `>` or `<` compares with: an integer of 64 bits. It must be the value of a label, too, and so has no sign. */
function parseBound(cursor: Cursor): string {
  const isNumber = INTEGER.test(cursor.peek());
  const shown = shownText(cursor.peek());
  if (!isNumber)
    throw new SyntaxError(`'${cursor.peek() === "," ? "" : shown}' is not an integer, as '>' and '<' need`);
  const value = parseValue(cursor);
  if (parseInt64(value) === undefined)
    throw new SyntaxError(`'${shown}' is more than ${MOST_INT64}, the most that '>' and '<' compare with`);
  return value;
}

function parseValues(cursor: Cursor): readonly string[] {
  if (!cursor.accept("(")) throw new SyntaxError(`found '${shownText(cursor.peek())}', expected: '('`);
  const values = [parseValue(cursor, ")")];
  while (cursor.accept(",")) values.push(parseValue(cursor, ")"));
  if (!cursor.accept(")")) throw new SyntaxError(`found '${shownText(cursor.peek())}', expected: ')'`);
  return values;
}

/** Gathers the requirements of a selector by key. */
function compile(requirements: readonly Requirement[]): LabelSelector {
  const byKey = Map.groupBy(requirements, ({ key }) => key);
  const isRequired = ({ operator }: Requirement): boolean => operator !== "notin" && operator !== "absent";
  return {
    required: [...byKey].filter(([, own]) => own.some(isRequired)).map(([key]) => key),
    demands: new Map(Array.from(byKey, ([key, own]) => [key, demandOf(own)])),
  };
}

function demandOf(requirements: readonly Requirement[]): Demand {
  const of = (wanted: Requirement["operator"]): readonly Requirement[] =>
    requirements.filter(({ operator }) => operator === wanted);
  const bounds = (wanted: "gt" | "lt"): readonly bigint[] => of(wanted).map(({ values }) => BigInt(values[0] ?? "0"));
  return {
    mayExist: of("absent").length === 0,
    allowed: of("in").reduce<ReadonlySet<string> | undefined>(
      (known, { values }) => new Set(known === undefined ? values : values.filter((value) => known.has(value))),
      undefined,
    ),
    refused: new Set(of("notin").flatMap(({ values }) => values)),
    above: bounds("gt").reduce<bigint | undefined>(
      (most, one) => (most !== undefined && most > one ? most : one),
      undefined,
    ),
    below: bounds("lt").reduce<bigint | undefined>(
      (least, one) => (least !== undefined && least < one ? least : one),
      undefined,
    ),
  };
}

/**
 * The longest label selector that is sent to an API server, in bytes of the URL. kube-apiserver 1.35.4 refuses a request
 * whose first line and headers take more than 1 MiB and 8 KiB together (431; measured 2026-11-22). The rest is for headers.
 */
const MOST_URL_BYTES = 1_000_000;

/** Returns why the API server would refuse to list the pods of this selector; undefined if it accepts the selector. Empty parts restrict nothing. */
export function podSelectorProblem({ namespace, label }: PodSelector): PodSelectorProblem | undefined {
  const parsed = parseLabelSelector(label);
  if ("error" in parsed) return { part: "label", ...parsed };
  if (namespace !== "" && !isNamespaceName(namespace)) {
    const error = `namespace "${shownText(namespace)}" is not a valid name: ${NAMESPACE_RULE}`;
    return { part: "namespace", error };
  }
  const bytes = urlBytes(label);
  if (bytes <= MOST_URL_BYTES) return undefined;
  const error = `it takes ${bytes} bytes in a URL, and at most ${MOST_URL_BYTES} are sent: an API server reads no more than about 1 MiB of a request's head`;
  return { part: "label", error };
}

/** Which part of a selector of pods cannot be sent, and why. */
export interface PodSelectorProblem {
  readonly part: "label" | "namespace";
  readonly error: string;
  /** Where inside the label the wrong part begins, from 0; absent = the part as a whole. */
  readonly offset?: number;
}

/** How long a text is as the value of a query. */
function urlBytes(label: string): number {
  return new URLSearchParams([["", label]]).toString().length - 1;
}

/** Returns the labels that a selector reads; none where it cannot be read. Pure. */
export function selectedLabels(selector: string): readonly string[] {
  const parsed = parseLabelSelector(selector);
  return "selector" in parsed ? [...parsed.selector.demands.keys()] : [];
}
