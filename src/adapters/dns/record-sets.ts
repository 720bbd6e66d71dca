// What DNS providers have in common: how one set of address records is changed, and how those of a whole zone are read.

import {
  acceptedTTL,
  type DesiredRecordSet,
  type RecordSetState,
  recordSetOf,
  sharedTTL,
  type TTLRules,
} from "../../model/dns.ts";
import { ProviderError } from "../../model/errors.ts";
import { RECORD_TYPES, setNamed } from "../../model/record-types.ts";
import type { ListPage } from "../../ports/listing.ts";
import type { RecordSetChange, RecordSetResult, ZoneListing } from "../../ports/providers.ts";
import type { APIClient, Call } from "../http/api-client.ts";
import type { Purpose } from "../http/limits.ts";
import { readShortList } from "./zone-lists.ts";

/** One address record, as far as all providers have it. */
export interface ARecord {
  readonly address: string;
  readonly ttlSeconds: number;
  /** True if the provider serves it from its own addresses, with a TTL of its own. */
  readonly isProxied?: boolean;
}

/** Returns a function that sends the requests of one change. If one fails after another has succeeded, its error is ambiguous: a part of the change is done. */
export function senderInParts<SDK>(client: Pick<APIClient<SDK>, "call">): <T>(call: Call<T, SDK>) => Promise<T> {
  let hasBegun = false;
  return async (call) => {
    try {
      const answer = await client.call(call);
      hasBegun = true;
      return answer;
    } catch (error) {
      if (!hasBegun || !(error instanceof ProviderError)) throw error;
      throw new ProviderError({ ...error, message: error.message, isAmbiguous: true }, { cause: error });
    }
  };
}

/** Returns the records of one name as the port shows them. One proxied record makes the set proxied, as Cloudflare serves it so. */
export function recordSetState(fqdn: string, records: readonly ARecord[]): RecordSetState {
  const addresses = [...new Set(records.map(({ address }) => address))].sort();
  return recordSetOf({ fqdn, addresses, isTTLAutomatic: records.some(({ isProxied }) => isProxied) }, records);
}

const MOST_ATTEMPTS = 2;

/** A record turned out not to be as it was read. */
export interface ChangeConflict<R> {
  readonly kind: "conflict";
  /** The own addresses that stand now unless somebody else changed them: those that were read and what the attempt has done, in any order. */
  readonly expected: readonly string[];
  /** All records of the name as read after the conflict; absent when they are still to be read. */
  readonly seen?: readonly R[];
  /** What the call fails with when nobody changed anything; absent = the answer is `stale` then. */
  readonly error?: ProviderError;
  /** False when the refusal may as well have another reason than a change by somebody else, so that it is not tried again. */
  readonly isRepeatable: boolean;
}

/** An attempt came to its end. `own` are the records that it was about, as they are now. */
export interface AttemptEnd<R> {
  readonly kind: "written";
  readonly own: readonly R[];
}

/** What becomes of one attempt to carry a change out. */
export type ChangeAttempt<R> = AttemptEnd<R> | ChangeConflict<R>;

/** What an attempt is to bring about; the provider accepts the TTL. */
export type Wanted = DesiredRecordSet;

/** The records of a name as they were read, by whose they are. */
export interface ReadRecords<R> {
  /** Those that the change is about. */
  readonly own: readonly R[];
  /** Those that it leaves as they are. */
  readonly others: readonly R[];
  /** True for a record that the change is about. */
  readonly isOwn: (record: ARecord) => boolean;
}

/** How a provider's records of one name are read and changed. */
interface RecordSetAccess<R extends ARecord> {
  /** As `setText` has it. */
  readonly fqdn: string;
  readonly ttlRules: TTLRules;
  /** Returns the error of a change that is refused before anything is sent. */
  readonly refuse: (reason: string) => ProviderError;
  readonly read: (purpose: Purpose) => Promise<readonly R[]>;
  /** Makes the own records the desired ones. */
  readonly attempt: (wanted: Wanted, records: ReadRecords<R>) => Promise<ChangeAttempt<R>>;
}

/**
 * Changes the records of one name when their addresses are those that the change was planned on. Reads first, and again after
 * a conflict: what is as desired is `written`, what somebody else changed is `stale`, and what is still as it was is tried once more.
 * Where the change leaves records to others, all this is said of its own ones.
 * @throws ProviderError; `refused`, before anything is sent, when an address could not stand in a record
 */
export async function changeRecordSet<R extends ARecord>(
  change: RecordSetChange,
  access: RecordSetAccess<R>,
): Promise<RecordSetResult> {
  const { before, after } = change;
  const { family, canonical } = RECORD_TYPES[setNamed(access.fqdn).type];
  const wrong = after.addresses.find((address) => canonical(address) === undefined);
  if (wrong !== undefined) throw access.refuse(`${JSON.stringify(wrong)} is not an ${family} address`);
  // An address that leaves a name serves nobody any more.
  const isRecovery = before.some((address) => !after.addresses.includes(address));
  let current = split(change, await access.read(isRecovery ? "recovery" : "change"));
  let expected = before;
  for (let attempts = 1; ; attempts += 1) {
    const result = standing(change, expected, access, current);
    if (result !== undefined) return result;
    const outcome = await access.attempt(wantedOf(change, access, current), current);
    if (outcome.kind !== "conflict") return await ended(outcome, change, access, current);
    current = split(change, outcome.seen ?? (await access.read("rest")));
    expected = outcome.expected;
    const isLast = attempts === MOST_ATTEMPTS || !outcome.isRepeatable;
    if (isLast) return standing(change, expected, access, current) ?? unexplained(outcome, access, current);
  }
}

function split<R extends ARecord>({ before, after, others }: RecordSetChange, records: readonly R[]): ReadRecords<R> {
  const isOwn = ({ address }: ARecord): boolean =>
    others === undefined || before.includes(address) || after.addresses.includes(address);
  return { own: records.filter(isOwn), others: records.filter((record) => !isOwn(record)), isOwn };
}

/** Beside records of others a change never raises the TTL of the name. */
function wantedOf<R extends ARecord>(
  { after: { addresses, ttlSeconds } }: RecordSetChange,
  { fqdn, ttlRules }: RecordSetAccess<R>,
  { others }: ReadRecords<R>,
): Wanted {
  return { addresses, ttlSeconds: sharedTTL(ttlSeconds, recordSetState(fqdn, others), ttlRules) };
}

/**
 * Returns the set after an attempt. Own records may all leave a name while others are in it. Two clusters may do that at the same moment, and leave the name empty. So
 * the name is read once more, and if it is empty the own records are put back.
 */
async function ended<R extends ARecord>(
  { kind, own }: AttemptEnd<R>,
  change: RecordSetChange,
  access: RecordSetAccess<R>,
  { others }: ReadRecords<R>,
): Promise<RecordSetResult> {
  const { fqdn, read, attempt } = access;
  if (change.others !== "some" || own.length > 0) return { kind, records: recordSetState(fqdn, [...others, ...own]) };
  const left = await read("rest");
  if (left.length > 0) return { kind, records: recordSetState(fqdn, left) };
  const back: RecordSetChange = { ...change, after: { ...change.after, addresses: change.before } };
  const nothing = split<R>(back, []);
  const restored = await attempt(wantedOf(back, access, nothing), nothing);
  return {
    kind: "stale",
    records: recordSetState(fqdn, restored.kind === "conflict" ? await read("rest") : restored.own),
  };
}

/** A conflict although nobody changed an address. @throws ProviderError the refusal, when there was one */
function unexplained<R extends ARecord>(
  { error }: ChangeConflict<R>,
  { fqdn }: RecordSetAccess<R>,
  { own, others }: ReadRecords<R>,
): RecordSetResult {
  if (error !== undefined) throw error;
  return { kind: "stale", records: recordSetState(fqdn, [...others, ...own]) };
}

/** What the records say by themselves; undefined when the own addresses are the expected ones and something is to be done. */
function standing<R extends ARecord>(
  change: RecordSetChange,
  expected: readonly string[],
  access: RecordSetAccess<R>,
  current: ReadRecords<R>,
): RecordSetResult | undefined {
  const { fqdn, ttlRules } = access;
  const records = recordSetState(fqdn, [...current.others, ...current.own]);
  const own = { ...recordSetState(fqdn, current.own), isTTLAutomatic: records.isTTLAutomatic };
  if (isAsDesired(own, wantedOf(change, access, current), ttlRules)) return { kind: "written", records };
  const isExpected = isSameSet(own.addresses, expected) && areExpected(current.others, change.others);
  return isExpected ? undefined : { kind: "stale", records };
}

function areExpected(others: readonly ARecord[], expected: RecordSetChange["others"]): boolean {
  if (expected === "none") return others.length === 0;
  return expected !== "some" || others.length > 0;
}

/** True when both lists name the same addresses, in whatever order and however often. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const [one, other] = [new Set(a), new Set(b)];
  return one.size === other.size && a.every((item) => other.has(item));
}

function isAsDesired(records: RecordSetState, after: DesiredRecordSet, ttlRules: TTLRules): boolean {
  if (records.hasDuplicates || !isSameSet(records.addresses, after.addresses)) return false;
  const isTTLFree = records.isTTLAutomatic || records.addresses.length === 0;
  return isTTLFree || records.ttlSeconds === acceptedTTL(after.ttlSeconds, ttlRules);
}

/** One item of the list of a zone's records. */
export interface ZoneItem<R> {
  readonly id: string;
  /** The set it belongs to, as `setText` has it; absent for what is no record of the type that is asked for. */
  readonly fqdn?: string;
  /** Absent where it is of that name and cannot be understood. */
  readonly record?: R;
}

/** How a provider's list of a zone's records is read. */
interface ZoneList<R extends ARecord> {
  readonly readPage: (page: number) => Promise<ListPage<ZoneItem<R>>>;
  readonly mostCalls: number;
}

/** Reads the records of a whole zone; undefined where that takes more than `mostCalls`. The first page tells where the API says how many pages there are. */
export async function readZoneListing<R extends ARecord>({
  readPage,
  mostCalls,
}: ZoneList<R>): Promise<ZoneListing | undefined> {
  const list = await readShortList(readPage, mostCalls);
  if (list === undefined) return undefined;
  const { items, isOneAnswer } = list;
  const known = items.flatMap(({ fqdn, record }) => (fqdn === undefined ? [] : [{ fqdn, record }]));
  const names = [...Map.groupBy(known, ({ fqdn }) => fqdn)].map(([fqdn, own]) => {
    const records = own.flatMap(({ record }) => record ?? []);
    return [fqdn, recordSetState(fqdn, records)] as const;
  });
  return {
    names: new Map(names),
    isOneAnswer,
    unclear: new Set(known.flatMap(({ fqdn, record }) => (record === undefined ? [fqdn] : []))),
  };
}
