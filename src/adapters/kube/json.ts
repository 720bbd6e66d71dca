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

/**
 * A Kubernetes `MicroTime` of a time in milliseconds: RFC 3339 in UTC with exactly 6 decimals. The API server refuses other
 * precisions with a 400 (kube-apiserver v1.35.4, verified 2026-08).
 */
export function microTime(ms: number): string {
  return `${formatTime(ms).slice(0, -1)}000Z`;
}
