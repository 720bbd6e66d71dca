import { type ListPage, readList } from "../../ports/listing.ts";
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
      const pages = infoCount(envelope, "total_pages");
      const hasMore = pages === undefined ? items.length >= pageSize : page < pages;
      const total = infoCount(envelope, "total_count");
      return {
        items,
        hasMore,
        ...(total === undefined ? {} : { total }),
        ...(pages === undefined ? {} : { pages }),
      };
    },
  };
}
