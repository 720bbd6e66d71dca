// What DNS providers have in common: how the texts of a zone are read, among records of all types.

import type { TextRecord, ZoneTexts } from "../../model/external-dns.ts";
import type { ListPage } from "../../ports/listing.ts";
import { readShortList } from "./zone-lists.ts";

/** A record of any type. */
export interface AnyRecord {
  readonly id: string;
  readonly type: string;
  /** Lower case without trailing dot. */
  readonly fqdn: string;
  /** Of a TXT record its text. */
  readonly content: string;
}

/**
 * Reads the texts of a whole zone, with the names that have other records; undefined where that takes more than `mostCalls`. A list that changed while it was read is
 * good enough: a mark that comes at this very moment could as well come a moment later.
 */
export async function readZoneTexts(
  readPage: (page: number) => Promise<ListPage<AnyRecord>>,
  mostCalls: number,
): Promise<ZoneTexts | undefined> {
  const list = await readShortList(readPage, mostCalls);
  return list === undefined ? undefined : textsAmong(list.items);
}

/** Returns the texts among records, and which names have records of other types. Pure. */
export function textsAmong(records: readonly AnyRecord[]): ZoneTexts {
  const names = new Map<string, Set<string>>();
  for (const { type, fqdn } of records) {
    if (type === "TXT") continue;
    const types = names.get(fqdn);
    if (types === undefined) names.set(fqdn, new Set([type]));
    else types.add(type);
  }
  return { texts: records.filter(({ type }) => type === "TXT").map(textOf), names };
}

function textOf({ fqdn, content }: AnyRecord): TextRecord {
  return { fqdn, text: content };
}
