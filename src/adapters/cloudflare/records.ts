// A records, as they are read: `/zones/{id}/dns_records`.

import { type ListPage, readList } from "../../ports/listing.ts";
import type { ZoneListing } from "../../ports/providers.ts";
import { canonicalName } from "../dns/names.ts";
import { type ARecord, readZoneListing, type ZoneItem } from "../dns/record-sets.ts";
import {
  ANY,
  AnswerFault,
  anyList,
  COUNT,
  check,
  choose,
  FLAG,
  IPV4,
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

/** Returns what texts say about a read of the A records of a name. */
export function readingOf(fqdn: string): CallInfo {
  const doing = `read the A records of ${fqdn}`;
  return { operation: "records", subject: fqdn, doing, scope: "Zone / DNS / Read", isWrite: false };
}

/** How many records of a name one call asks for. */
export const PAGE_SIZE = 100;

/**
 * Returns the A records of one name, all pages, in no order.
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
  throw providerError(readingOf(subject.fqdn), { failure: "malformed", status: 200, reason: problem });
}

function pageCall({ zoneID, fqdn }: NameSubject, page: number): CloudflareCall<ListPage<DNSRecord>> {
  return {
    ...readingOf(fqdn),
    send: ({ dns }) =>
      dns.records.list({ zone_id: zoneID, name: { exact: fqdn }, type: "A", page, per_page: PAGE_SIZE }).asResponse(),
    read: (envelope) => {
      const answer = readPage(envelope, recordOf(fqdn), { page, pageSize: PAGE_SIZE });
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

/** Returns the A records of a whole zone; undefined where that takes more than `mostCalls`. The first answer says how many records there are. */
export async function listZone(client: Client, zoneID: string, mostCalls: number): Promise<ZoneListing | undefined> {
  return readZoneListing({ readPage: (page) => client.call(zonePageCall(zoneID, page)), mostCalls });
}

function zonePageCall(zoneID: string, page: number): CloudflareCall<ListPage<ZoneItem<DNSRecord>>> {
  return {
    ...readingOf(zoneID),
    doing: `list the A records of the zone ${zoneID}${page === 1 ? "" : ` (page ${page})`}`,
    send: ({ dns }) => dns.records.list({ zone_id: zoneID, type: "A", page, per_page: ZONE_PAGE_SIZE }).asResponse(),
    read: (envelope) => readPage(envelope, ZONE_RECORD, { page, pageSize: ZONE_PAGE_SIZE }),
  };
}

/** Reads a record with its name; without `record` where it cannot be understood, without a name for what is no A record of one. */
const ZONE_RECORD: Schema<ZoneItem<DNSRecord>> = choose<ZoneItem<DNSRecord>>((fields) =>
  map(object({ id: ID }), ({ id }) => {
    const { type, name } = fields;
    const fqdn = typeof name === "string" ? canonicalName(name) : undefined;
    if (type !== "A" || fqdn === undefined) return { id };
    const record = readable(recordOf(fqdn), fields);
    return record === undefined ? { id, fqdn } : { id, fqdn, record };
  }),
);

/** One A record at Cloudflare. A TTL of 1 means automatic. */
export interface DNSRecord extends ARecord {
  readonly id: string;
  readonly isProxied: boolean;
  /** True when a person or a tool left a comment or tags on it. */
  readonly isAnnotated: boolean;
}

/** Returns a schema of a record object that is the A record of this name. */
export function recordOf(fqdn: string): Schema<DNSRecord> {
  const fields = object({
    type: check(TEXT, (type) => type === "A", "A"),
    name: nameLike(fqdn),
    id: ID,
    content: IPV4,
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
