/**
 * What steers a terminal or a reader's eye instead of being shown: control characters (C0, C1, DEL), with them line ends and the escape that begins every terminal code, the
 * format characters, with them all that turn the direction of a text around, and the two line separators of Unicode.
 */
const STEERING = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** Returns a text that came from outside as one line that cannot break a layout, forge a line or steer a terminal. Pure. */
export function plain(text: string): string {
  return withoutSteering(text).trim();
}

/** Returns a {@link plain} text in which every run of white space is one blank: for what a server sent, which may be a page of many lines. Pure. */
export function oneLine(text: string): string {
  return plain(text.replace(/\s+/gu, " "));
}

/** Returns a text without what steers a terminal; blanks at its ends stay. Pure. */
export function withoutSteering(text: string): string {
  return text.replace(STEERING, " ");
}

/**
 * Returns a value with every text in it {@link plain}, the names of its fields included; what has nothing to change is the value itself. Errors, maps and what else is
 * no array and no plain object stay as they are. Pure.
 */
export function plainValue<T>(value: T): T {
  return plainPart(value) as T;
}

function plainPart(value: unknown): unknown {
  if (typeof value === "string") return hasSteering(value) ? plain(value) : value;
  if (Array.isArray(value)) {
    const parts = value.map(plainPart);
    return parts.every((part, at) => part === value[at]) ? value : parts;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(
    ([key, part]) => [hasSteering(key) ? plain(key) : key, plainPart(part)] as const,
  );
  const isSame = entries.every(([key, part]) => Object.hasOwn(value, key) && part === value[key]);
  return isSame ? value : Object.fromEntries(entries);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function hasSteering(text: string): boolean {
  return text.search(STEERING) >= 0;
}

/**
 * Returns JSON with every character escaped that would steer whoever looks at it: beyond what JSON itself demands DEL, C1, direction marks and line separators. They can stand
 * only inside its strings, so that it means the same. Pure.
 */
export function escapedJSON(json: string): string {
  return json.replace(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** The end of a sentence about a text that cannot be a token: `The token of X ${UNUSABLE_TOKEN}.` */
export const UNUSABLE_TOKEN = "has characters that no token has, such as a space or a line end";

/** True for a text that can be a bearer token: printable ASCII without spaces, at least one character. */
export function isTokenText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/**
 * A 53-bit hash of a text as 14 hexadecimal digits: enough to tell two plans apart, no protection against anybody who wants a collision.
 * Two 32-bit multiplicative mixes over the code units; pure, so that the same content has the same hash everywhere.
 */
export function contentHash(text: string): string {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5bd1e995) ^ (high >>> 15);
  }
  const upper = ((high ^ (low >>> 13)) >>> 0) & 0x1fffff;
  return (upper * 0x100000000 + (low >>> 0)).toString(16).padStart(14, "0");
}
