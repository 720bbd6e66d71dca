import type { ZoneListing } from "../../ports/dns-provider.ts";
import { AnswerFault, type AnswerValue } from "../provider-http/answer-value.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import { answeredID } from "./answered-id.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { canonicalName } from "./dns-name.ts";
import { type DNSRecord, decodeRecord } from "./dns-record.ts";
import { infoCount } from "./info-count.ts";
import type { NameSubject } from "./name-subject.ts";
import { providerError } from "./provider-failure.ts";
import { recordSetState } from "./record-set-state.ts";

const pageSize = 100;

/** What to say about a read of the A records of a name. */
export function readFacts(fqdn: string): CallFacts {
  const doing = `read the A records of ${fqdn}`;
  return { operation: "records", subject: fqdn, doing, scope: "Zone / DNS / Read", isWrite: false };
}

/**
 * The A records of one name, all pages, in no order.
 * @throws ProviderError; `malformed` when the pages do not add up to the total, so that a part is never taken for the whole
 */
export async function listRecords(caller: Caller, subject: NameSubject): Promise<readonly DNSRecord[]> {
  const byID = new Map<string, DNSRecord>();
  for (let page = 1; ; page += 1) {
    const known = byID.size;
    const { records, hasMore, total } = await caller.call(pageCall(subject, page));
    for (const record of records) byID.set(record.id, record);
    if (hasMore && byID.size > known) continue;
    if (total === undefined || total === byID.size) return [...byID.values()];
    const reason = `the pages have ${byID.size} records, result_info.total_count is ${total}`;
    throw providerError(readFacts(subject.fqdn), { failure: "malformed", status: 200, reason });
  }
}

interface RecordPage {
  readonly records: readonly DNSRecord[];
  readonly hasMore: boolean;
  /** How many there are on all pages, when the answer says so. */
  readonly total: number | undefined;
}

function pageCall({ zoneID, fqdn }: NameSubject, page: number): Call<RecordPage> {
  return {
    ...readFacts(fqdn),
    send: (client) =>
      client.dns.records
        .list({ zone_id: zoneID, name: { exact: fqdn }, type: "A", page, per_page: pageSize })
        .asResponse(),
    decode(envelope) {
      const records = envelope
        .at("result")
        .items()
        .map((record) => decodeRecord(record, fqdn));
      if (new Set(records.map(({ id }) => id)).size < records.length) throw new AnswerFault("result has an id twice");
      const pages = infoCount(envelope, "total_pages");
      const hasMore = pages === undefined ? records.length >= pageSize : page < pages;
      return { records, hasMore, total: infoCount(envelope, "total_count") };
    },
  };
}

/**
 * How many records of a zone one call asks for. The API takes up to 5,000,000 (its schema, verified 2026-11-22); an answer of 5,000 has about 2.5 MB.
 * @see https://developers.cloudflare.com/api/resources/dns/subresources/records/methods/list/
 */
const zonePageSize = 5000;

/** An A record of a zone; without `record` where it cannot be understood. */
interface ZoneRecord {
  readonly id: string;
  readonly fqdn: string;
  readonly record?: DNSRecord;
}

interface ZonePage {
  readonly records: readonly ZoneRecord[];
  readonly pages: number;
}

/** The A records of a whole zone; undefined where that takes more than `mostCalls`. One call per 5,000 records; the first answer says how many there are. */
export async function listZone(caller: Caller, zoneID: string, mostCalls: number): Promise<ZoneListing | undefined> {
  const items = new Map<string, ZoneRecord>();
  let pages = 1;
  for (let page = 1; page <= pages; page += 1) {
    const answer = await caller.call(zonePageCall(zoneID, page));
    pages = Math.max(pages, answer.pages);
    if (pages > mostCalls) return undefined;
    for (const item of answer.records) items.set(item.id, item);
  }
  const byName = Map.groupBy(items.values(), ({ fqdn }) => fqdn);
  return {
    names: new Map(
      [...byName].map(([fqdn, own]) => [
        fqdn,
        recordSetState(
          fqdn,
          own.flatMap(({ record }) => record ?? []),
        ),
      ]),
    ),
    isOneAnswer: pages <= 1,
    unclear: new Set([...items.values()].flatMap(({ fqdn, record }) => (record === undefined ? [fqdn] : []))),
  };
}

function zonePageCall(zoneID: string, page: number): Call<ZonePage> {
  return {
    operation: "records",
    subject: zoneID,
    doing: `list the A records of the zone ${zoneID}${page === 1 ? "" : ` (page ${page})`}`,
    scope: "Zone / DNS / Read",
    isWrite: false,
    send: (client) =>
      client.dns.records.list({ zone_id: zoneID, type: "A", page, per_page: zonePageSize }).asResponse(),
    decode(envelope) {
      const items = envelope.at("result").items();
      const records = items.flatMap((item) => zoneRecord(item) ?? []);
      const pages = infoCount(envelope, "total_pages");
      // Without a count a page that is full may have a next one.
      return { records, pages: pages ?? (items.length >= zonePageSize ? page + 1 : page) };
    },
  };
}

/** Undefined for what is no A record of a name. */
function zoneRecord(item: AnswerValue): ZoneRecord | undefined {
  const name = item.at("name").raw;
  const fqdn = typeof name === "string" ? canonicalName(name) : undefined;
  if (item.at("type").raw !== "A" || fqdn === undefined) return undefined;
  const id = answeredID(item.at("id"));
  try {
    return { id, fqdn, record: decodeRecord(item, fqdn) };
  } catch (error) {
    if (error instanceof AnswerFault) return { id, fqdn };
    throw error;
  }
}
