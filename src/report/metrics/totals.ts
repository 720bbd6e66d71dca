import * as v from "valibot";
import { isAssign, type ObjectRef, ownPart, refKey, type WriteDNS } from "../../model/action.ts";
import { changesName } from "../../model/action-kinds.ts";
import { addHistograms, CALL_BOUNDS, FAILOVER_BOUNDS, type Histogram, histogramOf } from "../../model/meter.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { Plan, PoolAssessment, RecordSetAssessment, SetAssessment } from "../../model/plan.ts";
import { publishedNames } from "../../model/record-types.ts";
import { ownerKey, shownAddresses } from "../../model/resource.ts";
import type { PassResult, RunEnd } from "../../model/run.ts";
import { contentHash } from "../../model/text.ts";

/** Counts by their labels, separated by spaces. */
type Counts = Readonly<Record<string, number>>;

/** What is counted over all runs. */
export interface Totals {
  /** By `PROVIDER CALL OUTCOME`. */
  readonly calls: Counts;
  /** By `PROVIDER CALL`, seconds. */
  readonly durations: Readonly<Record<string, Histogram>>;
  /** By `ACTION OUTCOME`. */
  readonly changes: Counts;
  /** By `NAMESPACE/NAME ADDRESS`, or `routedip/NAMESPACE/NAME ADDRESS`; only addresses that pools and routed IPs have. */
  readonly assignments: Counts;
  /** By the same; only addresses that pools and routed IPs have. */
  readonly assignmentErrors: Counts;
  /** Seconds. */
  readonly failovers: Histogram;
  readonly names: NamesTotals;
}

/** Returns the totals with those of a run added. `isWhole` = it planned for every object, so that what no object has any more is forgotten. Pure. */
export function addRun(
  totals: Totals,
  { result, meters }: Pick<RunEnd, "result" | "meters">,
  isWhole: boolean,
): Totals {
  const { outcomes, remaining, timing } = result;
  const known = isWhole ? knownAddresses(remaining) : undefined;
  const calls = meters.flatMap(({ provider, calls: counts }) =>
    counts.map(({ operation, outcome, count }) => [`${provider} ${operation} ${outcome}`, count] as const),
  );
  const durations = meters.flatMap((meter) =>
    meter.durations.map(({ operation, seconds }) => {
      const key = `${meter.provider} ${operation}`;
      return [key, addHistograms(totals.durations[key], seconds)] as const;
    }),
  );
  return {
    calls: addCounts(totals.calls, calls),
    durations: { ...totals.durations, ...Object.fromEntries(durations) },
    changes: addCounts(
      totals.changes,
      outcomes.map(({ action, outcome }) => [`${action.kind} ${outcome}`, 1]),
    ),
    assignments: keep(known, addCounts(totals.assignments, outcomes.flatMap(acceptedAssignment))),
    assignmentErrors: keep(known, addCounts(totals.assignmentErrors, outcomes.flatMap(failedAssignment))),
    failovers: addHistograms(totals.failovers, histogramOf(timing.failoverSeconds, FAILOVER_BOUNDS)),
    names: addNames(totals.names, result, isWhole),
  };
}

function addCounts(before: Counts, more: readonly (readonly [string, number])[]): Counts {
  const sums = new Map(Object.entries(before));
  for (const [key, count] of more) sums.set(key, (sums.get(key) ?? 0) + count);
  return Object.fromEntries(sums);
}

function acceptedAssignment(outcome: Outcome): readonly (readonly [string, number])[] {
  const ip = assignedAddress(outcome);
  return ip === undefined || outcome.acceptedAtMs === undefined ? [] : [[addressKey(outcome.action.object, ip), 1]];
}

function failedAssignment(outcome: Outcome): readonly (readonly [string, number])[] {
  const ip = assignedAddress(outcome);
  return ip === undefined || outcome.outcome !== "failed" ? [] : [[addressKey(outcome.action.object, ip), 1]];
}

/** The address of an attempt to attach one; undefined for other changes, and where a purchase brought none. */
function assignedAddress({ action, address }: Outcome): string | undefined {
  if (isAssign(action)) return action.ip;
  return action.kind === "acquire-ip" && "node" in action.after ? address?.ip : undefined;
}

/** Returns the key of an object's address in the totals: that of a pool as earlier versions wrote it, that of a routed IP another one where both have the same name. */
export function addressKey(object: ObjectRef, ip: string): string {
  return `${ownerKey(object)} ${ip}`;
}

function knownAddresses({ pools }: Plan): ReadonlySet<string> {
  return new Set(pools.flatMap(({ object, status }) => Object.keys(status.ips).map((ip) => addressKey(object, ip))));
}

function keep(known: ReadonlySet<string> | undefined, counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([key]) => known?.has(key) ?? true));
}

/** The totals of one DNS name of one object. */
interface NameTotals {
  /** How often somebody else had changed its A records and flipop put them right. */
  readonly foreign: number;
  /** How many records that flipop had not written it replaced; absent = none. */
  readonly replaced?: number;
  /** The spec's generation and a hash of the addresses when the records were last right: `3:0a1b…`. Absent when that is not known. */
  readonly right?: string;
}

/** By `KIND/NAMESPACE/NAME PROVIDER FQDN`. */
type NamesTotals = Readonly<Record<string, NameTotals>>;

/** A name at a DNS provider, in full. */
interface Name {
  readonly provider: string;
  readonly fqdn: string;
}

type Assessment = PoolAssessment | RecordSetAssessment;

/** Returns the key of an object's name in the totals. */
export function nameTotalsKey(object: ObjectRef, { provider, fqdn }: Name): string {
  return `${refKey(object)} ${provider} ${fqdn}`;
}

/** A name that an object publishes under, and what is known of its records. */
interface AssessedName extends Name, Pick<SetAssessment, "drift" | "foreign"> {}

/** Returns the names that an object publishes under: of A records, then of AAAA records. Leaves out what is not known. */
export function namesOf(one: Assessment): readonly AssessedName[] {
  const provider = "written" in one ? one.written.provider : one.dns?.provider;
  const sets = "written" in one ? [one, one.ipv6 ?? []].flat() : [{ ...one, fqdn: one.dns?.fqdn }];
  return sets.flatMap(({ fqdn, drift, foreign }) =>
    provider === undefined || fqdn === undefined
      ? []
      : [
          {
            provider,
            fqdn,
            ...(drift === undefined ? {} : { drift }),
            ...(foreign === undefined ? {} : { foreign }),
          },
        ],
  );
}

/**
 * Returns the totals with those of a run added. Counts a change by somebody else when flipop has put the records right, once per write:
 *
 *   records when last right   records found   written   counted
 *   203.0.113.1               203.0.113.9     203.0.113.1   yes: somebody else wrote 203.0.113.9
 *   203.0.113.1               203.0.113.1     203.0.113.1   yes, unless the spec was edited: another TTL, or a record twice
 *   203.0.113.1               203.0.113.1     203.0.113.2   no: the object's own addresses changed
 *   not known                 203.0.113.9     203.0.113.1   no
 *
 * One change too many may be counted after a run that was killed between a change and its note on the Lease.
 * `isWhole` = the run planned for every object, so that names that no object has any more are forgotten.
 */
function addNames(before: NamesTotals, result: PassResult, isWhole: boolean): NamesTotals {
  const { remaining } = result;
  const known = { ...afterWrites(before, result) };
  for (const [key, right] of rightNames(remaining)) known[key] = { ...(known[key] ?? { foreign: 0 }), right };
  return isWhole ? stillAsked(known, remaining) : known;
}

function afterWrites(before: NamesTotals, { plan, outcomes }: PassResult): NamesTotals {
  const generations = generationsOf(plan);
  const known = new Map(Object.entries(before));
  for (const outcome of outcomes) {
    const { action } = outcome;
    if (!changesName(action)) continue;
    const key = nameTotalsKey(action.object, { provider: action.dnsProvider, fqdn: action.fqdn });
    const totals = known.get(key);
    const generation = generations.get(refKey(action.object)) ?? 0;
    const after =
      totals?.right === undefined ? totals : afterWrite(totals, totals.right, { action, outcome, generation });
    const replaced = (totals?.replaced ?? 0) + replacedBy(outcome);
    if (replaced > 0) known.set(key, { foreign: 0, ...after, replaced });
    else if (after !== undefined) known.set(key, after);
  }
  return Object.fromEntries(known);
}

function replacedBy({ action, outcome }: Outcome): number {
  return changesName(action) && outcome === "applied" ? (action.unrecorded?.length ?? 0) : 0;
}

function generationsOf({ pools, recordSets }: Plan): ReadonlyMap<string, number> {
  return new Map([...pools, ...recordSets].map((one) => [refKey(one.object), one.status.observedGeneration ?? 0]));
}

interface Write {
  readonly action: WriteDNS;
  readonly outcome: Outcome;
  readonly generation: number;
}

function afterWrite(totals: NameTotals, right: string, { action, outcome, generation }: Write): NameTotals {
  const [then = "", hash = ""] = right.split(":");
  // What others do with their records under a name that they share is no change of the object's.
  const ownHash = (addresses: readonly string[]): string => addressesHash(ownPart(action, addresses));
  const [found, written] = [ownHash(action.before.addresses), ownHash(action.after.addresses)];
  const isOthers = found !== hash || (written === hash && then === String(generation));
  const { foreign } = totals;
  if (outcome.outcome === "applied") {
    // This write only takes addresses out early; the repair follows.
    if (isOthers && action.kind === "withdraw-dns") return totals;
    return { foreign: isOthers ? foreign + 1 : foreign, right: `${generation}:${written}` };
  }
  if (outcome.outcome !== "failed" || isOthers) return totals;
  // flipop's own change may be half done: then the difference is not somebody else's.
  const isUntouched = outcome.records?.kind === "known" && ownHash(outcome.records.records.addresses) === found;
  return isUntouched ? totals : { foreign };
}

/** Returns the names whose records are right now, with their keys. Leaves out objects with nothing to publish: anybody may have written those records. */
function rightNames({ pools, recordSets, holds }: Plan): readonly (readonly [string, string])[] {
  const empty = new Set(
    holds.flatMap(({ object, subject, reason }) =>
      reason === "NothingToPublish" ? [`${refKey(object)} ${subject}`] : [],
    ),
  );
  return [...pools, ...recordSets].flatMap((one) => {
    const { observedGeneration = 0 } = one.status;
    return namesOf(one).flatMap((name) => {
      const published = publishedNames(one.status).find((known) => known.name === name.fqdn);
      if (published === undefined || name.drift !== 0 || empty.has(`${refKey(one.object)} ${name.fqdn}`)) return [];
      const key = nameTotalsKey(one.object, name);
      return [[key, `${observedGeneration}:${addressesHash(shownAddresses(published))}`] as const];
    });
  });
}

function addressesHash(addresses: readonly string[]): string {
  return contentHash(addresses.toSorted().join(" "));
}

/** Returns the totals without names that no object asks for. Keeps all names of an object whose name is not known in this run. */
function stillAsked(known: NamesTotals, { pools, recordSets }: Plan): NamesTotals {
  const all = [...pools, ...recordSets].map((one) => ({ object: one.object, names: namesOf(one) }));
  const asked = new Set(all.flatMap(({ object, names }) => names.map((name) => nameTotalsKey(object, name))));
  const open = new Set(all.flatMap(({ object, names }) => (names.length === 0 ? [refKey(object)] : [])));
  const isAsked = (key: string): boolean => asked.has(key) || open.has(key.slice(0, key.indexOf(" ")));
  return Object.fromEntries(Object.entries(known).filter(([key]) => isAsked(key)));
}

/** Returns the totals as the Lease carries them: JSON with sorted keys. */
export function writeTotals(totals: Totals): string {
  return JSON.stringify(totals, (_, value: unknown) => (isRecord(value) ? sorted(value) : value));
}

/** Returns the totals that the Lease carries. Whatever is not as {@link writeTotals} writes it counts as 0. @throws never */
export function readTotals(text: string | undefined): Totals {
  const raw = parsed(text);
  return {
    calls: fitting(WHOLE_NUMBER, raw["calls"]),
    durations: fitting(histogramOver(CALL_BOUNDS), raw["durations"]),
    changes: fitting(WHOLE_NUMBER, raw["changes"]),
    assignments: fitting(WHOLE_NUMBER, raw["assignments"]),
    assignmentErrors: fitting(WHOLE_NUMBER, raw["assignmentErrors"]),
    failovers: v.parse(v.fallback(histogramOver(FAILOVER_BOUNDS), NO_FAILOVERS), raw["failovers"]),
    names: fitting(NAME_TOTALS, raw["names"]),
  };
}

const NO_FAILOVERS: Histogram = histogramOf([], FAILOVER_BOUNDS);
const COUNT = v.pipe(v.number(), v.finite(), v.minValue(0));
const WHOLE_NUMBER = v.pipe(COUNT, v.safeInteger());
const NAME_TOTALS = v.pipe(
  v.object({
    foreign: WHOLE_NUMBER,
    replaced: v.fallback(v.optional(WHOLE_NUMBER), undefined),
    right: v.fallback(v.optional(v.string()), undefined),
  }),
  v.transform(
    ({ foreign, replaced, right }): NameTotals => ({
      foreign,
      ...(replaced === undefined ? {} : { replaced }),
      ...(right === undefined ? {} : { right }),
    }),
  ),
);

function histogramOver(bounds: readonly number[]): v.GenericSchema<unknown, Histogram> {
  return v.object({ sum: COUNT, counts: v.pipe(v.array(COUNT), v.length(bounds.length + 1)) });
}

/** Returns the entries of an object that fit, by their keys. Anything but an object has none. */
function fitting<T>(entry: v.GenericSchema<unknown, T>, value: unknown): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).flatMap(([key, one]) => {
      const read = v.safeParse(entry, one);
      return read.success ? [[key, read.output]] : [];
    }),
  );
}

type Raw = Readonly<Record<string, unknown>>;

function sorted(value: Raw): Raw {
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function parsed(text: string | undefined): Raw {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function isRecord(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
