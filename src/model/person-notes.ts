import { shownText } from "./resource.ts";
import { oneLine } from "./text.ts";
import { parseTime } from "./time.ts";

/** How many characters of a text in an annotation are kept. */
export const LONGEST_TEXT: number = 200;
/** How many wrong fields are named. */
const MOST_PROBLEMS = 3;

/** An annotation that a person writes for flipop, as JSON with some fields. What cannot be read counts as absent, and is a problem. */
export interface PersonNote {
  /** The text of a field as one line of at most {@link LONGEST_TEXT} characters; `""` where it is absent. */
  readonly textOf: (name: string) => string;
  /** The value of a field as it is. */
  readonly valueOf: (name: string) => unknown;
  /** The RFC 3339 time of a field, milliseconds. */
  readonly timeOf: (name: string) => number | undefined;
  /** What of the fields read so far is wrong; undefined where nothing is. */
  readonly problem: () => string | undefined;
}

/** Opens an annotation with these fields; undefined for a text that is no JSON object. Never throws. */
export function openNote(text: string, known: readonly string[]): PersonNote | undefined {
  const fields = recordOf(text);
  if (fields === undefined) return undefined;
  const problems = Object.keys(fields)
    .filter((name) => !known.includes(name))
    .map((name) => `it has no field "${shownText(name)}"`);
  return {
    textOf: (name) => {
      const value = fields[name] ?? "";
      if (typeof value === "string")
        return [...oneLine(value.slice(0, 4 * LONGEST_TEXT))].slice(0, LONGEST_TEXT).join("");
      problems.push(`"${name}" must be text`);
      return "";
    },
    valueOf: (name) => fields[name],
    timeOf: (name) => {
      const value = fields[name] ?? undefined;
      const ms = typeof value === "string" ? parseTime(value) : undefined;
      if (value !== undefined && ms === undefined) problems.push(`"${name}" must be a time like 2026-01-02T10:00:00Z`);
      return ms;
    },
    problem: () => (problems.length === 0 ? undefined : problems.slice(0, MOST_PROBLEMS).join(", ")),
  };
}

function recordOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
