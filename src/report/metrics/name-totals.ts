import { type ObjectRef, refKey, type WriteDNS } from "../../model/action.ts";
import type { Plan, PoolAssessment, RecordSetAssessment } from "../../model/plan.ts";
import type { Outcome, PassResult } from "../../model/run.ts";
import { contentHash } from "../../model/text.ts";

/** The totals of one DNS name of one object. */
export interface NameTotals {
  /** How often somebody else had changed its A records and flipop put them right. */
  readonly foreign: number;
  /** The spec's generation and a hash of the addresses when the records were last right: `3:0a1b…`. Absent when that is not known. */
  readonly right?: string;
}

/** By `KIND/NAMESPACE/NAME PROVIDER FQDN`. */
export type NamesTotals = Readonly<Record<string, NameTotals>>;

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

/** Returns the name that an object publishes under; undefined when it asks for none, or when the name is not known. */
export function nameOf(one: Assessment): Name | undefined {
  const { provider, fqdn } = "written" in one ? { provider: one.written.provider, fqdn: one.fqdn } : (one.dns ?? {});
  return provider === undefined || fqdn === undefined ? undefined : { provider, fqdn };
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
export function addNames(before: NamesTotals, result: PassResult, isWhole: boolean): NamesTotals {
  const { remaining } = result;
  const known = { ...afterWrites(before, result) };
  for (const [key, right] of rightNames(remaining)) known[key] = { foreign: known[key]?.foreign ?? 0, right };
  return isWhole ? stillAsked(known, remaining) : known;
}

function afterWrites(before: NamesTotals, { plan, outcomes }: PassResult): NamesTotals {
  const generations = generationsOf(plan);
  const known = new Map(Object.entries(before));
  for (const outcome of outcomes) {
    const { action } = outcome;
    if (!("dnsProvider" in action)) continue;
    const key = nameTotalsKey(action.object, { provider: action.dnsProvider, fqdn: action.fqdn });
    const totals = known.get(key);
    const generation = generations.get(refKey(action.object)) ?? 0;
    if (totals?.right !== undefined) known.set(key, afterWrite(totals, totals.right, { action, outcome, generation }));
  }
  return Object.fromEntries(known);
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
  const [found, written] = [addressesHash(action.before.addresses), addressesHash(action.after.addresses)];
  const isOthers = found !== hash || (written === hash && then === String(generation));
  const { foreign } = totals;
  if (outcome.outcome === "applied") {
    // This write only takes addresses out early; the repair follows.
    if (isOthers && action.kind === "withdraw-dns") return totals;
    return { foreign: isOthers ? foreign + 1 : foreign, right: `${generation}:${written}` };
  }
  if (outcome.outcome !== "failed" || isOthers) return totals;
  // flipop's own change may be half done: then the difference is not somebody else's.
  const isUntouched = outcome.records?.kind === "known" && addressesHash(outcome.records.records.addresses) === found;
  return isUntouched ? totals : { foreign };
}

/** Returns the names whose records are right now, with their keys. Leaves out objects with nothing to publish: anybody may have written those records. */
function rightNames({ pools, recordSets, holds }: Plan): readonly (readonly [string, string])[] {
  const empty = new Set(holds.flatMap(({ object, reason }) => (reason === "NothingToPublish" ? [refKey(object)] : [])));
  return [...pools, ...recordSets].flatMap((one) => {
    const name = nameOf(one);
    const { publishedDNS, observedGeneration = 0 } = one.status;
    if (name === undefined || one.drift !== 0 || empty.has(refKey(one.object))) return [];
    if (publishedDNS?.name !== name.fqdn) return [];
    return [[nameTotalsKey(one.object, name), `${observedGeneration}:${addressesHash(publishedDNS.addresses)}`]];
  });
}

function addressesHash(addresses: readonly string[]): string {
  return contentHash(addresses.toSorted().join(" "));
}

/** Returns the totals without names that no object asks for. Keeps all names of an object whose name is not known in this run. */
function stillAsked(known: NamesTotals, { pools, recordSets }: Plan): NamesTotals {
  const all = [...pools, ...recordSets].map((one) => ({ object: one.object, name: nameOf(one) }));
  const asked = new Set(all.flatMap(({ object, name }) => (name === undefined ? [] : [nameTotalsKey(object, name)])));
  const open = new Set(all.flatMap(({ object, name }) => (name === undefined ? [refKey(object)] : [])));
  const isAsked = (key: string): boolean => asked.has(key) || open.has(key.slice(0, key.indexOf(" ")));
  return Object.fromEntries(Object.entries(known).filter(([key]) => isAsked(key)));
}
