import { isDeepStrictEqual } from "node:util";
import { CALL_TIME } from "../model/errors.ts";

/** The time of a call that moves by less than this is no news, milliseconds. */
const NEWS_MS = 60_000;

/**
 * True where two statuses differ, and only in when a provider may be called again: by less than a minute. A provider that asks again and again for a second would have
 * its objects written each time. Pure.
 */
export function movesCallTimesOnly(before: object, after: object): boolean {
  // Nearly every status is the same as before.
  if (isDeepStrictEqual(before, after)) return false;
  const [old, now] = [withoutCallTimes(before), withoutCallTimes(after)];
  if (old.times.length === 0 || !isDeepStrictEqual(old.rest, now.rest)) return false;
  return old.times.every((time, at) => Math.abs(time - (now.times[at] ?? 0)) < NEWS_MS);
}

/** A status without those times, and the times, by the place where they stand. */
function withoutCallTimes(status: object): { readonly rest: unknown; readonly times: readonly number[] } {
  const times: (readonly [place: string, ms: number])[] = [];
  const rest = rid("", status, times);
  return { rest, times: times.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, ms]) => ms) };
}

function rid(place: string, value: unknown, times: (readonly [string, number])[]): unknown {
  if (typeof value === "string")
    return value
      .replaceAll(CALL_TIME, (_, time: string) => {
        times.push([place, Date.parse(time)]);
        return " No call before.";
      })
      .replaceAll(/ No call before\. Waits until \S+Z\./g, " No call before.");
  if (Array.isArray(value)) return value.map((item, at) => rid(`${place}/${at}`, item, times));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rid(`${place}/${key}`, item, times)]));
}
