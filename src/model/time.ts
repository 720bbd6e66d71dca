const RFC_3339 = /^(\d{4}-\d\d-(\d\d))T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
/** What RFC 3339 and Kubernetes can write: the years 0000 to 9999. */
const EARLIEST_MS = Date.parse("0000-01-01T00:00:00Z");
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");
/** The zero of Go's clock. Kubernetes means "no time" by it, and by the zero of Unix (apimachinery v0.35.4, time_proto.go). */
const GO_ZERO_MS = Date.parse("0001-01-01T00:00:00Z");

/** True for milliseconds since the epoch that RFC 3339 can write and that mean a time. Pure. */
export function isTime(ms: number): boolean {
  return ms >= EARLIEST_MS && ms <= LATEST_MS && !isZeroTime(ms);
}

/** True for the two times by which Kubernetes means none. Pure. */
export function isZeroTime(ms: number): boolean {
  return ms === 0 || ms === GO_ZERO_MS;
}

/**
 * Returns the milliseconds since the epoch of an RFC 3339 time. Undefined for every other text, for days that do not exist, and for the two times by which Kubernetes
 * means none. Fractions below a millisecond are cut off. Pure.
 */
export function parseTime(text: string): number | undefined {
  const [, date, day] = RFC_3339.exec(text) ?? [];
  if (date === undefined || new Date(`${date}T00:00:00Z`).getUTCDate() !== Number(day)) return undefined;
  const ms = Date.parse(text);
  return isTime(ms) ? ms : undefined;
}

/** Returns RFC 3339 in UTC with milliseconds: `2026-08-01T12:00:00.000Z`. Never throws: it writes the nearest time of the years 0000 to 9999, and the earliest for NaN. Pure. */
export function formatTime(ms: number): string {
  const written = Number.isNaN(ms) ? EARLIEST_MS : Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS);
  return new Date(written).toISOString();
}

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

/** Returns the later of two RFC 3339 times; a time that is absent or unreadable loses. Pure. */
export function laterTime(a: string | undefined, b: string | undefined): string | undefined {
  const [aMs, bMs] = [Date.parse(a ?? ""), Date.parse(b ?? "")];
  return Number.isNaN(bMs) || aMs >= bMs ? a : b;
}

/** Returns the later of two times in milliseconds; one that is absent loses. Pure. */
export function laterMs(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1000, "s"],
];

/** Returns a length of time in at most two units, as kubectl shows ages: `45s`, `2m30s`, `3h`, `12d`. Below a second: `0s`. */
export function durationText(ms: number): string {
  const at = UNITS.findIndex(([unit]) => ms >= unit);
  const [big, small] = [UNITS[at], UNITS[at + 1]];
  if (big === undefined) return "0s";
  const whole = Math.floor(ms / big[0]);
  const rest = small === undefined ? 0 : Math.floor((ms % big[0]) / small[0]);
  return rest === 0 || whole >= 10 ? `${whole}${big[1]}` : `${whole}${big[1]}${rest}${small?.[1] ?? ""}`;
}
