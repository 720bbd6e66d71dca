import { RECENT_CALLS_ANNOTATION } from "../model/lease-annotations.ts";
import type { RunEnd } from "../model/run.ts";
import type { ProviderMeter } from "../ports/ip-provider.ts";
import { rfc3339 } from "../report/time-text.ts";

/** Returns what a run leaves on its Lease of the calls it has just made: `{"at":"2026-01-02T03:04:05Z","digitalocean":187}`. */
export function recentCallsNote({ endedAtMs, meters }: Pick<RunEnd, "endedAtMs" | "meters">): string {
  const counts = meters.map(({ provider, recentCalls }) => [provider, recentCalls] as const);
  return JSON.stringify({ at: rfc3339(endedAtMs), ...Object.fromEntries(counts) });
}

/**
 * Counts the calls of the last run, as it left them on the Lease, together with those that are to come: a limit is of the token, not of a process. What cannot be read
 * counts for nothing.
 * @param nowMs - by the API server's clock.
 */
export function carryCalls(
  meters: ReadonlyMap<string, ProviderMeter>,
  notes: Readonly<Record<string, string>>,
  nowMs: number,
): void {
  const note = parsed(notes[RECENT_CALLS_ANNOTATION] ?? "");
  const agoMs = nowMs - Date.parse(String(note.get("at")));
  for (const [provider, meter] of meters) {
    const count = note.get(provider);
    if (typeof count === "number" && count >= 1 && agoMs >= 0) meter.carryCalls(Math.floor(count), agoMs);
  }
}

function parsed(text: string): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
  } catch {
    return new Map();
  }
}
