import type { DNSFacts } from "./dns.ts";
import { formatTime } from "./time.ts";

/**
 * How long an acquisition counts, milliseconds: the provider counts over a minute, and from when the creation reaches it, which is up to a few seconds after the
 * time on the Lease.
 */
export const ACQUISITION_WINDOW_MS = 65_000;

/** Looks at names of one DNS provider that were put off, because the calls that were left are kept for what is more urgent. */
interface PutOff {
  /** How many names and zones. */
  readonly names: number;
  /** When the last of them may be looked at, milliseconds. */
  readonly untilMs: number;
  /** Where the next look begins, as {@link DNSFacts.lookFrom}. */
  readonly lookFrom: string;
}

/** What was put off at a provider; undefined when all names were looked at. Pure. */
export function putOffAt({ zones, records, lookFrom = "" }: DNSFacts): PutOff | undefined {
  const times = [...zones.values(), ...records.values()].flatMap((fact) =>
    "putOffUntilMs" in fact && fact.putOffUntilMs !== undefined ? [fact.putOffUntilMs] : [],
  );
  return times.length === 0 ? undefined : { names: times.length, untilMs: Math.max(...times), lookFrom };
}

/** What a run leaves of it on the Lease: `3 until 2026-01-02T03:04:05.000Z from example.com www.example.com`. Pure. */
export function putOffText({ names, untilMs, lookFrom }: PutOff): string {
  return `${names} until ${formatTime(untilMs)} from ${lookFrom}`;
}

/** Reads {@link putOffText}; undefined for any other text. Pure. */
export function parsePutOff(text: string): PutOff | undefined {
  const [, names = "", time = "", lookFrom = ""] = /^(\d{1,9}) until (\S{1,40}) from ([\s\S]{0,600})$/.exec(text) ?? [];
  const untilMs = Date.parse(time);
  return Number.isNaN(untilMs) ? undefined : { names: Number(names), untilMs, lookFrom };
}
