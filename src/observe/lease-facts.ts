import { ACQUISITIONS_ANNOTATION, NOT_BEFORE_PREFIX, PUT_OFF_PREFIX } from "../model/lease-annotations.ts";
import { ACQUISITION_WINDOW_MS, parsePutOff } from "../model/lease-notes.ts";
import type { LeaseFacts } from "../model/observation.ts";
import type { LeaseRecord } from "../ports/cluster.ts";

/** The longest a provider's "not before" is believed, milliseconds: DigitalOcean's rate limit is counted over one hour. */
const LONGEST_NOT_BEFORE_MS = 3_600_000;

/** Reads what earlier runs left on the Lease; unreadable or impossible times are dropped. Pure. */
export function leaseFacts(lease: Pick<LeaseRecord, "annotations"> | undefined, nowMs: number): LeaseFacts {
  const annotations = lease?.annotations ?? {};
  const times = (annotations[ACQUISITIONS_ANNOTATION] ?? "")
    .split(",")
    .map((text) => Date.parse(text))
    // A time further ahead would count for ever, and is no creation's.
    .filter((ms) => Math.abs(ms - nowMs) < ACQUISITION_WINDOW_MS)
    .map((ms) => Math.min(ms, nowMs))
    .toSorted((a, b) => a - b);
  const notBefore = Object.entries(annotations)
    .filter(([key]) => key.startsWith(NOT_BEFORE_PREFIX))
    .map(
      ([key, text]) =>
        [key.slice(NOT_BEFORE_PREFIX.length), Math.min(Date.parse(text), nowMs + LONGEST_NOT_BEFORE_MS)] as const,
    )
    .filter(([, ms]) => ms > nowMs);
  const lookFrom = Object.entries(annotations)
    .filter(([key]) => key.startsWith(PUT_OFF_PREFIX))
    .map(([key, text]) => [key.slice(PUT_OFF_PREFIX.length), parsePutOff(text)?.lookFrom ?? ""] as const);
  return { acquisitionTimesMs: times, providerNotBeforeMs: new Map(notBefore), lookFrom: new Map(lookFrom) };
}
