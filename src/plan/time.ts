/** Milliseconds of an RFC 3339 time, never later than now: a stored time in the future counts as now. Undefined when absent or unreadable. */
export function pastMs(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : Math.min(ms, nowMs);
}

/** A time as status and Lease keep it: RFC 3339 in UTC, to the millisecond, since waits are counted from it. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}
