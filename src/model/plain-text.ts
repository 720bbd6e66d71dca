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
