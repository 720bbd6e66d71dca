// Address records, as they are read: `/zones/{id}/dns_records`.

import { type RecordSetName, type RecordType, setNamed, setText } from "../../model/record-types.ts";
import { type ListPage, readList } from "../../ports/listing.ts";
import type { ZoneListing } from "../../ports/providers.ts";
import { canonicalName } from "../dns/names.ts";
import { type ARecord, readZoneListing, type ZoneItem } from "../dns/record-sets.ts";
import {
  ADDRESS,
  ANY,
  AnswerFault,
  anyList,
  COUNT,
  check,
  choose,
  FLAG,
  map,
  maybe,
  object,
  readable,
  type Schema,
  TEXT,
} from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { type Client, type CloudflareCall, ID, providerError, readItems } from "./api.ts";
import { type NameSubject, nameLike } from "./zones.ts";

/** Returns what texts say about a read of a set of records, named as `setText` does it. */
export function readingOf(text: string): CallInfo {
  const { fqdn, type } = setNamed(text);
  const doing = `read the ${type} records of ${fqdn}`;
  return { operation: "records", subject: text, doing, scope: "Zone / DNS / Read", isWrite: false };
}

/** How many records of a name one call asks for. */
export const PAGE_SIZE = 100;

/**
 * Returns one set of records, all pages, in no order.
 * @throws ProviderError; `malformed` when the pages are not the whole list, see {@link readList}, so that a part is never taken for
 * the whole
 */
export async function listRecords(client: Client, subject: NameSubject): Promise<readonly DNSRecord[]> {
  const { items, problem } = await readList((page) => client.call(pageCall(subject, page)), {
    keyOf: ({ id }) => id,
    noun: "records",
    totalField: "result_info.total_count",
  });
  if (problem === undefined) return items;
  throw providerError(readingOf(setText(subject)), { failure: "malformed", status: 200, reason: problem });
}

function pageCall(subject: NameSubject, page: number): CloudflareCall<ListPage<DNSRecord>> {
  const { zoneID, fqdn, type } = subject;
  return {
    ...readingOf(setText(subject)),
    send: ({ dns }) =>
      dns.records.list({ zone_id: zoneID, name: { exact: fqdn }, type, page, per_page: PAGE_SIZE }).asResponse(),
    read: (envelope) => {
      const answer = readPage(envelope, recordOf(subject), { page, pageSize: PAGE_SIZE });
      if (new Set(answer.items.map(({ id }) => id)).size === answer.items.length) return answer;
      throw new AnswerFault("result has an id twice");
    },
  };
}

/** Returns page `page` of a list. Where the answer has no counts, a full page may have a next one. */
export function readPage<T>(
  envelope: unknown,
  item: Schema<T>,
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): ListPage<T> {
  const { items, pages, total } = readItems(envelope, item);
  return {
    items,
    hasMore: pages === undefined ? items.length >= pageSize : page < pages,
    ...(total === undefined ? {} : { total }),
    ...(pages === undefined ? {} : { pages }),
  };
}

/**
 * How many records of a zone one call asks for. An answer of 5,000 has about 2.5 MB. The API would allow 5,000,000 (its schema, verified 2026-11-22).
 * @see https://developers.cloudflare.com/api/resources/dns/subresources/records/methods/list/
 */
export const ZONE_PAGE_SIZE = 5000;

/** Returns the records of one type of a whole zone; undefined where that takes more than `mostCalls`. The first answer says how many records there are. */
export async function listZone(
  client: Client,
  zoneID: string,
  type: RecordType,
  mostCalls: number,
): Promise<ZoneListing | undefined> {
  return readZoneListing({ readPage: (page) => client.call(zonePageCall(zoneID, type, page)), mostCalls });
}

function zonePageCall(zoneID: string, type: RecordType, page: number): CloudflareCall<ListPage<ZoneItem<DNSRecord>>> {
  return {
    ...readingOf(zoneID),
    doing: `list the ${type} records of the zone ${zoneID}${page === 1 ? "" : ` (page ${page})`}`,
    send: ({ dns }) => dns.records.list({ zone_id: zoneID, type, page, per_page: ZONE_PAGE_SIZE }).asResponse(),
    read: (envelope) => readPage(envelope, zoneRecord(type), { page, pageSize: ZONE_PAGE_SIZE }),
  };
}

/** Reads a record with its set; without `record` where it cannot be understood, without a set for what is no record of the type. */
function zoneRecord(asked: RecordType): Schema<ZoneItem<DNSRecord>> {
  return choose<ZoneItem<DNSRecord>>((fields) =>
    map(object({ id: ID }), ({ id }) => {
      const { type, name } = fields;
      const found = typeof name === "string" ? canonicalName(name) : undefined;
      if (type !== asked || found === undefined) return { id };
      const set = { fqdn: found, type: asked };
      const record = readable(recordOf(set), fields);
      return record === undefined ? { id, fqdn: setText(set) } : { id, fqdn: setText(set), record };
    }),
  );
}

/** One address record at Cloudflare. A TTL of 1 means automatic. */
export interface DNSRecord extends ARecord {
  readonly id: string;
  readonly isProxied: boolean;
  /** True when a person or a tool left a comment or tags on it. */
  readonly isAnnotated: boolean;
}

/** Returns a schema of a record object that is of this set. */
export function recordOf({ fqdn, type: asked }: RecordSetName): Schema<DNSRecord> {
  const fields = object({
    type: check(TEXT, (type) => type === asked, asked),
    name: nameLike(fqdn),
    id: ID,
    content: ADDRESS[asked],
    ttl: COUNT,
    proxied: maybe(FLAG),
    comment: maybe(TEXT),
    tags: anyList(ANY),
  });
  return map(fields, ({ id, content, ttl, proxied = false, comment = "", tags }) => ({
    id,
    address: content,
    ttlSeconds: ttl,
    isProxied: proxied,
    isAnnotated: comment !== "" || tags.length > 0,
  }));
}
