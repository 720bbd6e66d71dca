import { formatTime, parseTime } from "../model/time.ts";

/** Milliseconds of an RFC 3339 time, never later than now: a stored time in the future counts as now. Undefined when absent or unreadable. */
export function pastMs(text: string | undefined, nowMs: number): number | undefined {
  const ms = parseTime(text ?? "");
  return ms === undefined ? undefined : Math.min(ms, nowMs);
}

/** True for an RFC 3339 time that is not in the future; false for any other text. */
export function isPast(text: string, nowMs: number): boolean {
  const ms = parseTime(text);
  return ms !== undefined && ms <= nowMs;
}

/** A time as status and Lease keep it: RFC 3339 in UTC, to the millisecond, since waits are counted from it. */
export function timestamp(ms: number): string {
  return formatTime(ms).replace(".000Z", "Z");
}
