import { parseTime } from "../../model/time.ts";

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

/** Milliseconds since the epoch of an RFC 3339 text (`Time` or `MicroTime`), see {@link parseTime}; undefined for everything else. */
export function asTimeMs(value: unknown): number | undefined {
  return typeof value === "string" ? parseTime(value) : undefined;
}

/** The members of an object whose values are text, in their order; empty for everything that is no object. */
export function asTextMap(value: unknown): Readonly<Record<string, string>> {
  const members = Object.entries(asRecord(value) ?? {});
  return Object.fromEntries(members.filter((member): member is [string, string] => typeof member[1] === "string"));
}

/** The entries of a list that are text, in their order; empty for everything that is no list. */
export function asTexts(value: unknown): readonly string[] {
  return asList(value).filter((entry) => typeof entry === "string");
}
