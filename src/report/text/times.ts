import { formatTime } from "../../model/time.ts";

/** Returns `2026-08-01T12:00:00Z`: RFC 3339, UTC, whole seconds. */
export function rfc3339(ms: number): string {
  return formatTime(ms).replace(/\.\d{3}Z$/, "Z");
}

/** Returns `12:00:30 UTC`, with the date in front when it is another day than `nowMs`. */
export function clockText(ms: number, nowMs: number): string {
  const text = rfc3339(ms);
  const day = text.slice(0, 10);
  const time = `${text.slice(11, 19)} UTC`;
  return day === rfc3339(nowMs).slice(0, 10) ? time : `${day} ${time}`;
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

/** Returns `until 12:00:30 UTC (in 20s)`, or `due now` when the time is not ahead. */
export function untilText(ms: number, nowMs: number): string {
  return ms <= nowMs ? "due now" : `until ${clockText(ms, nowMs)} (in ${durationText(ms - nowMs + 999)})`;
}

/** Returns `in 20s`, or `now` when the RFC 3339 time is not ahead; a text that is no time as it is, on one line. */
export function aheadText(time: string, nowMs: number): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  return at <= nowMs ? "now" : `in ${durationText(at - nowMs)}`;
}
