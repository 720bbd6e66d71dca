import type { RecordSetState } from "../../model/dns.ts";
import { type ListPage, readList } from "../../ports/listing.ts";
import type { ZoneListing } from "../../ports/providers.ts";

/** One item of the list of a zone's A records. */
export interface ZoneItem<R> {
  readonly id: string;
  /** The name it belongs to; absent for what is no A record of a name. */
  readonly fqdn?: string;
  /** Absent where it is of that name and cannot be understood. */
  readonly record?: R;
}

/** How a provider's list of a zone's records is read. */
export interface ZoneList<R> {
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
