import { canonicalIPv4 } from "./address.ts";
import type { DNSFacts } from "./dns.ts";
import { formatTime } from "./time.ts";

/** What a pool's annotation tells of its acquisitions. */
export interface AcquisitionNote {
  /** The addresses acquired, in the order of status. */
  readonly ips: readonly string[];
  /** One {@link placeOf} per acquisition without an answer, in the order of status. */
  readonly pending: readonly string[];
}

/** A note that tells of nothing, as good as none. */
export const EMPTY_NOTE: AcquisitionNote = { ips: [], pending: [] };

/** What the annotation has to say beside such a status. Pure. */
export function acquisitionNote(status: {
  readonly acquired: readonly { readonly ip: string }[];
  readonly pendingAcquisitions: readonly AskedPlace[];
}): AcquisitionNote {
  const ips = status.acquired.map(({ ip }) => ip).filter((ip) => canonicalIPv4(ip) === ip);
  return { ips: [...new Set(ips)], pending: status.pendingAcquisitions.map(placeOf) };
}

/** For what an acquisition asked. */
interface AskedPlace {
  readonly providerID?: string;
  readonly region?: string;
}

/** Where an address was asked for: the provider ID of a machine, which has `://` in it, or a region; `""` when an intent does not say. */
export function placeOf({ providerID, region }: AskedPlace): string {
  return providerID ?? region ?? "";
}

/** What is in the first list and not in the second one, each as often as it is there more often. Keeps the order. */
export function beyond(list: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other];
  return list.filter((entry) => {
    const at = left.indexOf(entry);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

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
