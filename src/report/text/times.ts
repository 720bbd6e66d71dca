import { durationText, formatTime } from "../../model/time.ts";

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

/** Returns `until 12:00:30 UTC (in 20s)`, or `due now` when the time is not ahead. */
export function untilText(ms: number, nowMs: number): string {
  return ms <= nowMs ? "due now" : `until ${clockText(ms, nowMs)} (in ${durationText(ms - nowMs + 999)})`;
}

/** Returns a text with every time of machines in it as people read it: `12:00:30 UTC (in 20s)`, or `12:00:30 UTC (8m ago)`. */
export function readableTimes(text: string, nowMs: number): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => {
    const ms = Date.parse(time);
    if (Number.isNaN(ms)) return time;
    return ms <= nowMs
      ? `${clockText(ms, nowMs)} (${durationText(nowMs - ms)} ago)`
      : untilText(ms, nowMs).replace(/^until /, "");
  });
}

/** How far the API server's clock may be ahead of what it tells in whole seconds, beside the way of its answer, milliseconds. */
const UNSURE_MS = 2000;

/** True for a time that no right clock can have shown yet. */
export function isInFuture(ms: number, nowMs: number): boolean {
  return ms - nowMs > UNSURE_MS;
}

/** Returns `8m ago` for an RFC 3339 time, `10m in the future` where a clock was wrong; a text that is no time as it is. */
export function agoText(time: string, nowMs: number): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  return isInFuture(at, nowMs)
    ? `${durationText(at - nowMs)} in the future`
    : `${durationText(Math.max(nowMs - at, 0))} ago`;
}

/** Returns `since 12:00:30 UTC (8m ago)` for an RFC 3339 time; `""` for a text that is none. */
export function sinceText(time: string, nowMs: number): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? "" : `since ${clockText(at, nowMs)} (${agoText(time, nowMs)})`;
}

/** Returns `since 12:00:30 UTC`, and how far ahead that is where a clock was wrong. */
export function sinceClockText(ms: number, nowMs: number): string {
  const ahead = isInFuture(ms, nowMs) ? ` (${agoText(rfc3339(ms), nowMs)})` : "";
  return `since ${clockText(ms, nowMs)}${ahead}`;
}

/** Returns `in 20s`, or `now` when the RFC 3339 time is not ahead; a text that is no time as it is, on one line. */
export function aheadText(time: string, nowMs: number): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  return at <= nowMs ? "now" : `in ${durationText(at - nowMs)}`;
}

/** Returns how long after the beginning of a story something is: `t+01:05`, minutes and seconds. */
export function stampText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (part: number): string => String(part).padStart(2, "0");
  return `t+${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`;
}

/** Returns how long things are taken to last, as every text says it that tells what would happen. */
export function paceText({ assignMs, dnsMs }: { readonly assignMs: number; readonly dnsMs: number }): string {
  return `an assignment takes ${assignMs / 1000} s, a DNS write ${dnsMs / 1000} s`;
}
