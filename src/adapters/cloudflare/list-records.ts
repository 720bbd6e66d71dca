import { AnswerFault } from "../provider-http/answer-value.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { type DNSRecord, decodeRecord } from "./dns-record.ts";
import { infoCount } from "./info-count.ts";
import type { NameSubject } from "./name-subject.ts";
import { providerError } from "./provider-failure.ts";

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
