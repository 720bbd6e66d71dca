import { jsonOf } from "../provider-http/answer.ts";
import { AnswerFault } from "../provider-http/answer-value.ts";
import { answeredID } from "./answered-id.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { type AddressRecord, decodeRecord } from "./decode-record.ts";
import { providerError } from "./provider-failure.ts";
import type { RecordName } from "./record-name.ts";

const pageSize = 200;

interface RecordPage {
  /** Ids of all records of the page, whatever they are. */
  readonly ids: readonly string[];
  readonly records: readonly AddressRecord[];
  /** How many records the list has over all pages. */
  readonly total: number;
}

/**
 * The A records of one name, by id. The API's filter is asked for name and type, and its answer is checked: it was broken once,
 * and what is of another name or type is left out. One call per 200 records.
 * @throws ProviderError `not-found`, naming the zone, when the account does not have it; `malformed` when the pages do not hold as
 * many records as they say, so that nothing is ever taken for missing because an answer was incomplete
 */
export async function listRecords(caller: Caller, name: RecordName): Promise<readonly AddressRecord[]> {
  const ids = new Set<string>();
  const records = new Map<number, AddressRecord>();
  for (let page = 1; ; page += 1) {
    const call = pageCall(name, page);
    const answer = await caller.call(call);
    for (const id of answer.ids) ids.add(id);
    for (const record of answer.records) records.set(record.id, record);
    if (page * pageSize < answer.total) continue;
    if (ids.size >= answer.total) return [...records.values()].sort((a, b) => a.id - b.id);
    const reason = `the pages hold ${ids.size} records although meta.total is ${answer.total}`;
    throw providerError(call, { failure: "malformed", status: 200, reason });
  }
}

function pageCall({ zone, fqdn, relative }: RecordName, page: number): Call<RecordPage> {
  return {
    operation: "records",
    subject: fqdn,
    doing: `read the A records of ${fqdn} in the zone ${zone}${page === 1 ? "" : ` (page ${page})`}`,
    scope: "domain:read",
    isWrite: false,
    notFoundAdvice: missingZone(zone),
    send: (client, configuration) =>
      client.domains
        .byDomain_name(zone)
        .records.get({ ...configuration, queryParameters: { name: fqdn, type: "A", page, perPage: pageSize } }),
    decode(answer) {
      const body = jsonOf(answer);
      const items = body.at("domain_records").items();
      const total = body.at("meta").at("total").count();
      // Without this, a total that is never reached would make the caller ask for page after page.
      if (items.length === 0 && total > (page - 1) * pageSize) {
        throw new AnswerFault(`domain_records is empty although meta.total is ${total}`);
      }
      return {
        ids: items.map((item) => answeredID(item.at("id"))),
        records: items.flatMap((item) => decodeRecord(item, relative) ?? []),
        total,
      };
    },
  };
}

/** What a 404 of a zone's records means. Pure. */
export function missingZone(zone: string): string {
  return `The account has no zone ${zone}: add it there, or correct dnsRecordSet.zone.`;
}
