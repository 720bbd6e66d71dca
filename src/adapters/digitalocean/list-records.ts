import { answeredID } from "./answered-id.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { type AddressRecord, decodeRecord } from "./decode-record.ts";
import { decodePage, type ItemPage, listAll, pageSize } from "./list-all.ts";
import type { RecordName } from "./record-name.ts";

/**
 * The A records of one name, by id. The API's filter is asked for name and type, and its answer is checked: it was broken once,
 * and what is of another name or type is left out. One call per 200 records.
 * @throws ProviderError `not-found`, naming the zone, when the account does not have it; `malformed` when the pages are not the
 * whole list
 */
export async function listRecords(caller: Caller, name: RecordName): Promise<readonly AddressRecord[]> {
  const records = await listAll(caller, "records", (page) => pageCall(name, page));
  return records.toSorted((a, b) => a.id - b.id);
}

function pageCall({ zone, fqdn, relative }: RecordName, page: number): Call<ItemPage<AddressRecord>> {
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
    decode: (answer) =>
      decodePage(answer, { key: "domain_records", page }, (item) => ({
        id: answeredID(item.at("id")),
        value: decodeRecord(item, relative),
      })),
  };
}

/** What a 404 of a zone's records means. Pure. */
export function missingZone(zone: string): string {
  return `The account has no zone ${zone}: add it there, or correct dnsRecordSet.zone.`;
}
