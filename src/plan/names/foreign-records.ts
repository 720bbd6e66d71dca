import { type OtherRecords, partOf, type RecordSetState, recordAddresses } from "../../model/dns.ts";
import { namesOf } from "../../model/record-types.ts";
import { ownAddresses, type PublishedName, type RecordSince } from "../../model/resource.ts";
import { isPast, parseTime, timestamp } from "../../model/time.ts";
import type { ServedAddresses } from "../serving.ts";
import { nameKey, publishedKey } from "./name-claims.ts";
import type { ReadyTarget } from "./name-target.ts";
import type { Publisher } from "./publishers.ts";

/*
 * Whose the records of a name are. A record is foreign if no object of this cluster has its address on record under the name, and no object that publishes there has the
 * address. An address is put on record before it is written, so a run that dies makes none of them foreign. Exception: what an object wrote that was deleted and made anew
 * is foreign, since its status went with it.
 */

/** The records under an object's name, by whose they are. */
export interface SplitRecords {
  /** Those that the object answers for: with `Adopt` all of them, else those that are not foreign. */
  readonly own: RecordSetState;
  /** The addresses of foreign records; sorted. */
  readonly foreign: readonly string[];
  /** Absent with `Adopt`: then no record is left to others. */
  readonly others?: RecordSetState;
}

/** The addresses that objects of this cluster have at each name, by the name's key. */
export type RecordedAddresses = ReadonlyMap<string, ReadonlySet<string>>;

/** Collects what objects have on record under their names, and what those manage that publish there now: that is theirs even if their status is lost. Pure. */
export function recordedAddresses(publishers: readonly Publisher[]): RecordedAddresses {
  const recorded = new Map<string, Set<string>>();
  const enter = (key: string, addresses: readonly string[]): void => {
    const known = recorded.get(key);
    if (known === undefined) recorded.set(key, new Set(addresses));
    else for (const ip of addresses) known.add(ip);
  };
  for (const { memory, target, managed, recognizes } of publishers) {
    const own = managed.filter(recognizes);
    for (const name of namesOf(memory)) enter(publishedKey(name), [...ownAddresses(name), ...own]);
    if (target.kind !== "none" && target.name !== undefined) enter(nameKey(target.name), own);
  }
  return recorded;
}

/** Tells the records under an object's name apart. Pure. */
export function splitRecords(
  { recognizes, foreignRecords }: Publisher,
  { name, records }: ReadyTarget,
  { serving }: ServedAddresses,
  recorded: RecordedAddresses,
): SplitRecords {
  const known = recorded.get(nameKey(name));
  const foreign = records.addresses.filter((ip) => known?.has(ip) !== true && !serving.has(ip) && !recognizes(ip));
  if (foreignRecords === "Adopt") return { own: records, foreign };
  const isForeign = (ip: string): boolean => foreign.includes(ip);
  return { own: partOf(records, (ip) => !isForeign(ip)), foreign, others: partOf(records, isForeign) };
}

/** Returns what a change of the name says of the foreign records; nothing with `Adopt`. `wanted` are the own addresses after the change. Pure. */
export function othersOf(
  { foreignRecords, whenEmpty }: Publisher,
  { own, foreign }: SplitRecords,
  wanted: readonly string[],
): { readonly others?: OtherRecords } {
  if (foreignRecords === "Adopt") return {};
  const isFirst = foreignRecords === "Hold" && own.addresses.length === 0;
  const leavesAll = wanted.length === 0 && own.addresses.length > 0 && whenEmpty === "Keep";
  return { others: { addresses: foreign, expected: isFirst ? "none" : leavesAll ? "some" : "any" } };
}

/** Returns foreign records as status keeps them: the time of the first sight stays while the record does. Nothing where there are none. Pure. */
export function rememberedForeign(
  foreign: readonly string[],
  stored: PublishedName | undefined,
  nowMs: number,
): Pick<PublishedName, "foreign"> {
  return foreign.length === 0 ? {} : { foreign: foreign.map((ip) => recordSince(ip, stored?.foreign, nowMs)) };
}

/** How long an own address stays on record that readings do not show. */
const UNSEEN_MS = 600_000;

/**
 * Returns the own addresses that stay on record though the name was read without them: a list may be older than the change before it, and whoever goes by it alone
 * leaves a record behind that nobody removes. An address leaves the record once this pass has taken it out, or once readings have lacked it for ten minutes.
 * Not with `Adopt`: there every record of the name is the object's to take out, whatever is on record. Pure.
 */
export function rememberedUnseen(
  { foreignRecords }: Pick<Publisher, "foreignRecords">,
  { records, removed = [], isPutOff }: Pick<ReadyTarget, "records" | "removed" | "isPutOff">,
  stored: PublishedName | undefined,
  nowMs: number,
): Pick<PublishedName, "unseen"> {
  if (stored === undefined || foreignRecords === "Adopt") return {};
  const unseen = recordAddresses(ownAddresses(stored))
    .filter((ip) => !records.addresses.includes(ip) && !removed.includes(ip))
    .map((ip) => recordSince(ip, stored.unseen, nowMs))
    .filter(({ since }) => isPutOff === true || (parseTime(since) ?? nowMs) > nowMs - UNSEEN_MS);
  return unseen.length === 0 ? {} : { unseen };
}

function recordSince(address: string, stored: readonly RecordSince[] | undefined, nowMs: number): RecordSince {
  const known = stored?.find((record) => record.address === address)?.since;
  return { address, since: known !== undefined && isPast(known, nowMs) ? known : timestamp(nowMs) };
}
