import type { IPFamily } from "./address-source.ts";
import type { DNSFacts } from "./dns.ts";
import type { GrantMode } from "./grants.ts";
import {
  ACQUISITIONS_ANNOTATION,
  ACQUISITIONS_IPV6_ANNOTATION,
  GRANTS_ANNOTATION,
  NOT_BEFORE_PREFIX,
  PUT_OFF_PREFIX,
} from "./lease-annotations.ts";
import type { LeaseFacts, Observation } from "./observation.ts";
import { parseSuspension, SUSPEND_ANNOTATION, type Suspension } from "./suspension.ts";
import { formatTime, timestamp } from "./time.ts";

/*
 * What runs leave for later runs on the Lease, written and read here.
 *
 *   annotation             says                                                  written
 *   acquisitions           the times of the newest acquisitions of IPv4          right before a purchase
 *   acquisitions-ipv6      the same of IPv6: no family waits for the other one   right before a purchase
 *   not-before-PROVIDER    until when the provider asked for no calls            at the end of a pass; it stays until a later one has seen that it is over
 *   grants                 how grants counted: warn or require                   at the end of a pass
 *   put-off-PROVIDER       names of DNS that were not looked at, and how many    at the end of a pass
 *   suspend                what lets all objects stand still                     by a person: flipop suspend --all
 *
 * Of processes with --shard each has a Lease, with a copy of each but those that they share: acquisitions of both families, not-before-PROVIDER and suspend stand on the Lease of the process without.
 */

/** Where the times of acquisitions stand. */
const ACQUISITIONS: Readonly<Record<IPFamily, string>> = {
  IPv4: ACQUISITIONS_ANNOTATION,
  IPv6: ACQUISITIONS_IPV6_ANNOTATION,
};

/** The annotations of a Lease. */
type Annotations = Readonly<Record<string, string>>;

/**
 * How long an acquisition counts, milliseconds: the provider counts over a minute, and from when the creation reaches it, which is up to a few seconds after the
 * time on the Lease.
 */
export const ACQUISITION_WINDOW_MS = 65_000;

/** The longest a provider's "not before" is believed, milliseconds: DigitalOcean's rate limit is counted over one hour. */
const LONGEST_NOT_BEFORE_MS = 3_600_000;

/** True for a note that all shards share. Pure. */
export function isSharedNote(key: string): boolean {
  return Object.values(ACQUISITIONS).includes(key) || key === SUSPEND_ANNOTATION || key.startsWith(NOT_BEFORE_PREFIX);
}

/** Returns the notes that count for a shard: those of its own Lease, with what all share as the other one has it. Pure. */
export function shardNotes(own: Annotations, shared: Annotations): Annotations {
  return Object.fromEntries([
    ...Object.entries(own).filter(([key]) => !isSharedNote(key)),
    ...Object.entries(shared).filter(([key]) => isSharedNote(key)),
  ]);
}

/**
 * Returns what is left of changes of shared notes that were made on older ones: of two times before which a provider wants no call the later one stands, and only what is still as
 * it was seen is removed. Pure.
 */
export function sharedChange(
  changes: Readonly<Record<string, string | null>>,
  seen: Annotations,
  stored: Annotations,
): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    Object.entries(changes).filter(([key, text]) =>
      text === null ? stored[key] === seen[key] : !(Date.parse(stored[key] ?? "") >= Date.parse(text)),
    ),
  );
}

/**
 * Returns the changes of the notes on a Lease that are still to be made. Others may have changed it since it was seen.
 * A shared note that they have changed is changed as {@link sharedChange} says, any other one as it was wanted. Pure.
 */
export function changeAmongOthers(
  changes: Readonly<Record<string, string | null>>,
  seen: Annotations,
  stored: Annotations,
): Readonly<Record<string, string | null>> {
  const all = Object.entries(changes);
  const isContested = (key: string): boolean => isSharedNote(key) && stored[key] !== seen[key];
  return {
    ...Object.fromEntries(all.filter(([key]) => !isContested(key))),
    ...sharedChange(Object.fromEntries(all.filter(([key]) => isContested(key))), seen, stored),
  };
}

/** An acquisition that is about to be made. */
export interface NotedAcquisition {
  /** When, milliseconds of the API server's clock. */
  readonly ms: number;
  readonly family: IPFamily;
  /** How many the provider allows a minute. */
  readonly perMinute: number;
  /** The time that was noted before for the same acquisition. */
  readonly insteadOf?: number;
}

/** Reads what earlier runs left on the Lease; unreadable or impossible times are dropped. Pure. */
export function leaseFacts(annotations: Annotations, nowMs: number): LeaseFacts {
  const times = (family: IPFamily): readonly number[] => recentOf(acquisitionTexts(annotations, family), nowMs);
  const timesIPv6 = times("IPv6");
  const notBefore = byProvider(annotations, NOT_BEFORE_PREFIX)
    .map(([name, text]) => [name, Math.min(Date.parse(text), nowMs + LONGEST_NOT_BEFORE_MS)] as const)
    .filter(([, ms]) => ms > nowMs);
  const lookFrom = byProvider(annotations, PUT_OFF_PREFIX).map(
    ([name, text]) => [name, parsePutOff(text)?.lookFrom ?? ""] as const,
  );
  const suspension = leaseSuspension(annotations);
  return {
    acquisitionTimesMs: times("IPv4"),
    ...(timesIPv6.length === 0 ? {} : { acquisitionTimesIPv6Ms: timesIPv6 }),
    providerNotBeforeMs: new Map(notBefore),
    lookFrom: new Map(lookFrom),
    ...(suspension === undefined ? {} : { suspension }),
  };
}

/** Returns the providers that asked for no calls until a time that is over by now, as far as no pass has ended since that began after it. Pure. */
export function formerLimits(annotations: Annotations, nowMs: number): ReadonlySet<string> {
  return new Set(
    byProvider(annotations, NOT_BEFORE_PREFIX).flatMap(([name, text]) => (Date.parse(text) <= nowMs ? [name] : [])),
  );
}

/** Returns the times of acquisitions that count now, ascending, milliseconds. */
function recentOf(texts: readonly string[], nowMs: number): readonly number[] {
  return (
    texts
      .map((text) => Date.parse(text))
      // A time further ahead would count for ever, and is no creation's.
      .filter((ms) => Math.abs(ms - nowMs) < ACQUISITION_WINDOW_MS)
      .map((ms) => Math.min(ms, nowMs))
      .toSorted((a, b) => a - b)
  );
}

/** Returns what the Lease says of standing still; undefined where it says nothing. Pure. */
export function leaseSuspension(annotations: Annotations): Suspension | undefined {
  const text = annotations[SUSPEND_ANNOTATION];
  return text === undefined ? undefined : parseSuspension(text);
}

/** Returns how grants counted in the run that wrote the Lease last; undefined where they did not. Pure. */
export function notedGrants(annotations: Annotations): GrantMode | undefined {
  const text = annotations[GRANTS_ANNOTATION];
  return text === "warn" || text === "require" ? text : undefined;
}

/** Returns the times of acquisitions of a family that earlier runs and this one have made, milliseconds. Pure. */
export function acquisitionTimes(lease: LeaseFacts, family: IPFamily): readonly number[] {
  return family === "IPv4" ? lease.acquisitionTimesMs : (lease.acquisitionTimesIPv6Ms ?? []);
}

/** Returns what is known of the Lease with the times of acquisitions that were made since; the same value where there are none. Pure. */
export function withAcquisitions(lease: LeaseFacts, families: readonly IPFamily[], ms: number): LeaseFacts {
  const added = (family: IPFamily): readonly number[] => families.filter((one) => one === family).map(() => ms);
  const [ipv4, ipv6] = [added("IPv4"), added("IPv6")];
  return {
    ...lease,
    ...(ipv4.length === 0 ? {} : { acquisitionTimesMs: [...lease.acquisitionTimesMs, ...ipv4] }),
    ...(ipv6.length === 0 ? {} : { acquisitionTimesIPv6Ms: [...acquisitionTimes(lease, "IPv6"), ...ipv6] }),
  };
}

/**
 * Returns the change of the Lease that adds the time of an acquisition, in the place of one that was noted for it before. It keeps as many times of the family as the provider allows
 * acquisitions per minute. Undefined where as many count already. Pure.
 */
export function acquisitionAdded(
  stored: Annotations,
  { ms, family, perMinute, insteadOf }: NotedAcquisition,
): Annotations | undefined {
  const texts = acquisitionTexts(stored, family);
  const before = insteadOf === undefined ? -1 : texts.indexOf(timestamp(insteadOf));
  const others = texts.filter((_, at) => at !== before);
  if (recentOf(others, ms).length >= perMinute) return undefined;
  const kept = others.slice(-Math.max(1, perMinute - 1));
  return { [ACQUISITIONS[family]]: [...kept, timestamp(ms)].join(",") };
}

function acquisitionTexts(annotations: Annotations, family: IPFamily): readonly string[] {
  return (annotations[ACQUISITIONS[family]] ?? "").split(",").filter((time) => time !== "");
}

/** Returns the annotations with this prefix, as the name of their provider and their text. */
function byProvider(annotations: Annotations, prefix: string): readonly (readonly [name: string, text: string])[] {
  return Object.entries(annotations).flatMap(([key, text]) =>
    key.startsWith(prefix) ? [[key.slice(prefix.length), text] as const] : [],
  );
}

/**
 * Returns the changes of the Lease at the end of a pass: until when each provider asked for no calls, and which looks at names were put off. What was over when the pass began is
 * removed (null): so the next pass knows of a refusal even if that was over before this one ended. What is there already is left out. Pure.
 */
export function noteChanges(
  { dns, grants }: Pick<Observation, "dns" | "grants">,
  { told, onLease, sinceMs }: Limited,
  stored: Annotations,
  nowMs: number,
): Readonly<Record<string, string | null>> {
  // What a provider said to others, or before, still holds. By what the lock knows: the Lease may have been unreadable while the world was observed.
  const lastMs = nowMs + LONGEST_NOT_BEFORE_MS;
  const standing = byProvider(stored, NOT_BEFORE_PREFIX)
    .map(([name, text]) => [name, Date.parse(text)] as const)
    .filter(([name, ms]) => ms <= lastMs || !told.has(name))
    .map(([name, ms]) => [name, Math.min(ms, lastMs)] as const);
  const desired: ReadonlyMap<string, string> = new Map(
    // Addresses of both families, DNS and firewalls of one provider share its limit: the later time stands.
    [...standing, ...told]
      .filter(([, ms]) => ms > sinceMs)
      .toSorted(([, a], [, b]) => a - b)
      .map(([name, ms]) => [`${NOT_BEFORE_PREFIX}${name}`, timestamp(ms)] as const),
  );
  // A note may have been taken away since a shard's lock has seen it. What this process was told itself it notes again.
  const isLost = (key: string, time: string): boolean => {
    const name = key.slice(NOT_BEFORE_PREFIX.length);
    return timestamp(told.get(name) ?? 0) === time && !onLease.has(name);
  };
  const over = Object.keys(stored).filter((key) => key.startsWith(NOT_BEFORE_PREFIX) && !desired.has(key));
  const mode = grants?.mode;
  return Object.fromEntries([
    ...(stored[GRANTS_ANNOTATION] === mode ? [] : [[GRANTS_ANNOTATION, mode ?? null] as const]),
    ...over.map((key) => [key, null] as const),
    ...[...desired].filter(([key, time]) => stored[key] !== time || isLost(key, time)),
    ...[...dns.values()].flatMap((facts) => putOffChange(facts, stored)),
  ]);
}

/** By provider, until when it asked for no calls, milliseconds of the API server's clock. */
interface Limited {
  /** As this process was told. */
  readonly told: ReadonlyMap<string, number>;
  /** As the Lease said when it was read last. */
  readonly onLease: ReadonlyMap<string, number>;
  /** When the pass began, milliseconds of the same clock. */
  readonly sinceMs: number;
}

/** The annotation of a provider that could not be asked stays. */
function putOffChange(facts: DNSFacts, stored: Annotations): readonly (readonly [string, string | null])[] {
  const key = `${PUT_OFF_PREFIX}${facts.name}`;
  const putOff = putOffAt(facts);
  const text = putOff === undefined ? undefined : putOffText(putOff);
  return facts.unusable !== undefined || stored[key] === text ? [] : [[key, text ?? null]];
}

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

/** Writes it for the Lease: `3 until 2026-01-02T03:04:05.000Z from example.com www.example.com`. */
function putOffText({ names, untilMs, lookFrom }: PutOff): string {
  return `${names} until ${formatTime(untilMs)} from ${lookFrom}`;
}

/** Reads what an annotation says of looks that were put off; undefined for any other text. Pure. */
export function parsePutOff(text: string): PutOff | undefined {
  const [, names = "", time = "", lookFrom = ""] = /^(\d{1,9}) until (\S{1,40}) from ([\s\S]{0,600})$/.exec(text) ?? [];
  const untilMs = Date.parse(time);
  return Number.isNaN(untilMs) ? undefined : { names: Number(names), untilMs, lookFrom };
}
