import { acceptedTTL, type DesiredRecordSet, type RecordSetState, type TTLRules } from "../../model/dns.ts";
import type { ProviderError } from "../../model/errors.ts";
import { type ListPage, readList } from "../../ports/listing.ts";
import type { RecordSetChange, RecordSetResult, ZoneListing } from "../../ports/providers.ts";
import type { Purpose } from "./limits.ts";

const mostAttempts = 2;

/** A record turned out not to be as it was read. */
export interface ChangeConflict<R> {
  readonly kind: "conflict";
  /** The addresses that stand now unless somebody else changed them: those that were read and what the attempt has done, in any order. */
  readonly expected: readonly string[];
  /** The records as read after the conflict; absent when they are still to be read. */
  readonly seen?: readonly R[];
  /** What the call fails with when nobody changed anything; absent = the answer is `stale` then. */
  readonly error?: ProviderError;
  /** False when the refusal may as well have another reason than a change by somebody else, so that it is not tried again. */
  readonly isRepeatable: boolean;
}

/** What becomes of one attempt to carry a change out. */
export type ChangeAttempt<R> = RecordSetResult | ChangeConflict<R>;

/** How a provider's records of one name are read and changed. */
interface RecordSetAccess<R> {
  readonly ttlRules: TTLRules;
  readonly read: (purpose: Purpose) => Promise<readonly R[]>;
  readonly stateOf: (records: readonly R[]) => RecordSetState;
  /** Makes the records that were read the wanted ones, and asks {@link RecordSetChange.mayWrite} right before every request. */
  readonly attempt: (records: readonly R[]) => Promise<ChangeAttempt<R>>;
}

/**
 * Changes the records of one name when their addresses are those that the change was planned on. Reads first, and again after
 * a conflict: what is as wanted is `written`, what somebody else changed is `stale`, and what is still as it was is tried once more.
 * @throws ProviderError
 */
export async function changeRecordSet<R>(
  change: RecordSetChange,
  access: RecordSetAccess<R>,
): Promise<RecordSetResult> {
  let current = await access.read(purposeOf(change));
  let expected = change.before;
  for (let attempts = 1; ; attempts += 1) {
    const seen = standing(change, expected, access, current);
    if (seen !== undefined) return seen;
    const outcome = await access.attempt(current);
    if (outcome.kind !== "conflict") return outcome;
    current = outcome.seen ?? (await access.read("rest"));
    expected = outcome.expected;
    const isLast = attempts === mostAttempts || !outcome.isRepeatable;
    if (isLast) return standing(change, expected, access, current) ?? unexplained(outcome, access, current);
  }
}

/** What the first call of a change is made for: an address that leaves a name serves nobody any more. */
function purposeOf({ before, after }: RecordSetChange): Purpose {
  return before.some((address) => !after.addresses.includes(address)) ? "recovery" : "change";
}

/** What the records say by themselves; undefined when their addresses are the expected ones and something is to be done. */
function standing<R>(
  { after }: RecordSetChange,
  expected: readonly string[],
  { stateOf, ttlRules }: RecordSetAccess<R>,
  current: readonly R[],
): RecordSetResult | undefined {
  const records = stateOf(current);
  if (isAsWanted(records, after, ttlRules)) return { kind: "written", records };
  return isSameSet(records.addresses, expected) ? undefined : { kind: "stale", records };
}

/** A conflict although nobody changed an address. @throws ProviderError the refusal, when there was one */
function unexplained<R>(
  { error }: ChangeConflict<R>,
  { stateOf }: RecordSetAccess<R>,
  current: readonly R[],
): RecordSetResult {
  if (error !== undefined) throw error;
  return { kind: "stale", records: stateOf(current) };
}

/** True when both lists name the same addresses, in whatever order and however often. Pure. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const [one, other] = [new Set(a), new Set(b)];
  return one.size === other.size && a.every((item) => other.has(item));
}

function isAsWanted(records: RecordSetState, after: DesiredRecordSet, ttlRules: TTLRules): boolean {
  if (records.hasDuplicates || !isSameSet(records.addresses, after.addresses)) return false;
  const isTTLFree = records.isTTLAutomatic || records.addresses.length === 0;
  return isTTLFree || records.ttlSeconds === acceptedTTL(after.ttlSeconds, ttlRules);
}

/** One item of the list of a zone's A records. */
export interface ZoneItem<R> {
  readonly id: string;
  /** The name it belongs to; absent for what is no A record of a name. */
  readonly fqdn?: string;
  /** Absent where it is of that name and cannot be understood. */
  readonly record?: R;
}

/** How a provider's list of a zone's records is read. */
interface ZoneList<R> {
  readonly readPage: (page: number) => Promise<ListPage<ZoneItem<R>>>;
  readonly mostCalls: number;
  readonly recordSetState: (fqdn: string, records: readonly R[]) => RecordSetState;
}

/** Reads the A records of a whole zone; undefined where that takes more than `mostCalls`. The first page tells where the API says how many pages there are. */
export async function readZoneListing<R>({
  readPage,
  mostCalls,
  recordSetState,
}: ZoneList<R>): Promise<ZoneListing | undefined> {
  const read = { calls: 0, isTooLong: false };
  const readUpTo = async (page: number): Promise<ListPage<ZoneItem<R>>> => {
    const answer = await readPage(page);
    read.calls += 1;
    read.isTooLong = (answer.pages ?? 0) > mostCalls || (answer.hasMore && read.calls >= mostCalls);
    return read.isTooLong ? { ...answer, hasMore: false } : answer;
  };
  const words = { keyOf: ({ id }: ZoneItem<R>) => id, noun: "records", totalField: "the total" };
  const { items, problem } = await readList(readUpTo, words);
  if (read.isTooLong) return undefined;
  return listingOf(items, recordSetState, read.calls === 1 && problem === undefined);
}

function listingOf<R>(
  items: readonly ZoneItem<R>[],
  recordSetState: ZoneList<R>["recordSetState"],
  isOneAnswer: boolean,
): ZoneListing {
  const known = items.flatMap(({ fqdn, record }) => (fqdn === undefined ? [] : [{ fqdn, record }]));
  const byName = Map.groupBy(known, ({ fqdn }) => fqdn);
  const stateOf = (fqdn: string, own: typeof known): RecordSetState =>
    recordSetState(
      fqdn,
      own.flatMap(({ record }) => record ?? []),
    );
  return {
    names: new Map([...byName].map(([fqdn, own]) => [fqdn, stateOf(fqdn, own)])),
    isOneAnswer,
    unclear: new Set(known.flatMap(({ fqdn, record }) => (record === undefined ? [fqdn] : []))),
  };
}
