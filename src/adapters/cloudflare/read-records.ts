import type { RecordSetState } from "../../model/dns.ts";
import { type ListPage, readList } from "../../ports/listing.ts";
import type { ZoneListing } from "../../ports/providers.ts";
import { AnswerFault, type AnswerValue } from "../provider-http/answer.ts";
import type { CallFacts } from "../provider-http/provider-caller.ts";
import { readZoneListing, type ZoneItem } from "../provider-http/record-sets.ts";
import { answeredID, type Call, type Caller, infoCount, providerError } from "./api.ts";
import { answeredName, canonicalName, type NameSubject } from "./zones.ts";

const pageSize = 100;

/** What to say about a read of the A records of a name. */
export function readFacts(fqdn: string): CallFacts {
  const doing = `read the A records of ${fqdn}`;
  return { operation: "records", subject: fqdn, doing, scope: "Zone / DNS / Read", isWrite: false };
}

/**
 * The A records of one name, all pages, in no order.
 * @throws ProviderError; `malformed` when the pages are not the whole list, see {@link readList}, so that a part is never taken for
 * the whole
 */
export async function listRecords(caller: Caller, subject: NameSubject): Promise<readonly DNSRecord[]> {
  const { items, problem } = await readList((page) => caller.call(pageCall(subject, page)), {
    keyOf: ({ id }) => id,
    noun: "records",
    totalField: "result_info.total_count",
  });
  if (problem === undefined) return items;
  throw providerError(readFacts(subject.fqdn), { failure: "malformed", status: 200, reason: problem });
}

function pageCall({ zoneID, fqdn }: NameSubject, page: number): Call<ListPage<DNSRecord>> {
  return {
    ...readFacts(fqdn),
    send: (client) =>
      client.dns.records
        .list({ zone_id: zoneID, name: { exact: fqdn }, type: "A", page, per_page: pageSize })
        .asResponse(),
    decode(envelope) {
      const items = envelope
        .at("result")
        .items()
        .map((record) => decodeRecord(record, fqdn));
      if (new Set(items.map(({ id }) => id)).size < items.length) throw new AnswerFault("result has an id twice");
      return pageOf(envelope, items, { page, pageSize });
    },
  };
}

/** Where the answer has no counts, a full page may have a next one. */
function pageOf<T>(
  envelope: AnswerValue,
  items: readonly T[],
  asked: { readonly page: number; readonly pageSize: number },
): ListPage<T> {
  const pages = infoCount(envelope, "total_pages");
  const total = infoCount(envelope, "total_count");
  return {
    items,
    hasMore: pages === undefined ? items.length >= asked.pageSize : asked.page < pages,
    ...(total === undefined ? {} : { total }),
    ...(pages === undefined ? {} : { pages }),
  };
}

/**
 * How many records of a zone one call asks for. An answer of 5,000 has about 2.5 MB. The API would allow 5,000,000 (its schema, verified 2026-11-22).
 * @see https://developers.cloudflare.com/api/resources/dns/subresources/records/methods/list/
 */
const zonePageSize = 5000;

/** The A records of a whole zone; undefined where that takes more than `mostCalls`. The first answer says how many records there are. */
export async function listZone(caller: Caller, zoneID: string, mostCalls: number): Promise<ZoneListing | undefined> {
  const readPage = (page: number): Promise<ListPage<ZoneItem<DNSRecord>>> => caller.call(zonePageCall(zoneID, page));
  return readZoneListing({ readPage, mostCalls, recordSetState });
}

function zonePageCall(zoneID: string, page: number): Call<ListPage<ZoneItem<DNSRecord>>> {
  return {
    operation: "records",
    subject: zoneID,
    doing: `list the A records of the zone ${zoneID}${page === 1 ? "" : ` (page ${page})`}`,
    scope: "Zone / DNS / Read",
    isWrite: false,
    send: (client) =>
      client.dns.records.list({ zone_id: zoneID, type: "A", page, per_page: zonePageSize }).asResponse(),
    decode: (envelope) =>
      pageOf(envelope, envelope.at("result").items().map(zoneRecord), { page, pageSize: zonePageSize }),
  };
}

/** A record by its name; without `record` where it cannot be understood, without a name for what is no A record of one. */
function zoneRecord(item: AnswerValue): ZoneItem<DNSRecord> {
  const id = answeredID(item.at("id"));
  const name = item.at("name").raw;
  const fqdn = typeof name === "string" ? canonicalName(name) : undefined;
  if (item.at("type").raw !== "A" || fqdn === undefined) return { id };
  try {
    return { id, fqdn, record: decodeRecord(item, fqdn) };
  } catch (error) {
    if (error instanceof AnswerFault) return { id, fqdn };
    throw error;
  }
}

/** The records of one name as the port shows them. Pure. One proxied record makes the set proxied, as Cloudflare serves it so. */
export function recordSetState(fqdn: string, records: readonly DNSRecord[]): RecordSetState {
  const addresses = [...new Set(records.map((record) => record.address))].sort();
  const isTTLAutomatic = records.some((record) => record.isProxied);
  const ttls = new Set(records.map((record) => record.ttlSeconds));
  const [ttlSeconds] = ttls;
  const isOneTTL = !isTTLAutomatic && ttls.size === 1 && ttlSeconds !== undefined;
  return {
    fqdn,
    addresses,
    ...(isOneTTL ? { ttlSeconds } : {}),
    isTTLAutomatic,
    hasDuplicates: records.length > addresses.length,
  };
}

/** One A record at Cloudflare. */
export interface DNSRecord {
  readonly id: string;
  readonly address: string;
  /** Seconds; 1 = automatic. */
  readonly ttlSeconds: number;
  readonly isProxied: boolean;
  /** True when a person or a tool left a comment or tags on it. */
  readonly isAnnotated: boolean;
}

/**
 * The A record of this name in a record object.
 * @throws AnswerFault when it is a record of another name or type
 */
export function decodeRecord(value: AnswerValue, fqdn: string): DNSRecord {
  const [type, name] = [value.at("type"), value.at("name")];
  if (type.text() !== "A") throw type.fault("A");
  if (answeredName(name) !== fqdn) throw name.fault(fqdn);
  const [proxied, comment, tags] = [value.at("proxied"), value.at("comment"), value.at("tags")];
  return {
    id: answeredID(value.at("id")),
    address: value.at("content").ipv4(),
    ttlSeconds: value.at("ttl").count(),
    isProxied: !proxied.isAbsent && proxied.flag(),
    isAnnotated: (!comment.isAbsent && comment.text() !== "") || (!tags.isAbsent && tags.items().length > 0),
  };
}
