import { canonicalDNSName } from "../../model/dns.ts";
import type { ListPage } from "../../ports/listing.ts";
import type { ZoneListing } from "../../ports/providers.ts";
import { AnswerFault, type AnswerValue } from "../provider-http/answer-value.ts";
import { readZoneListing, type ZoneItem } from "../provider-http/zone-listing.ts";
import { answeredID } from "./answered-id.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { type AddressRecord, decodeRecord } from "./decode-record.ts";
import { decodePage, type ItemPage, listAll, pageSize } from "./list-all.ts";
import type { RecordName } from "./record-name.ts";
import { recordSetState } from "./record-set-state.ts";

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
  const doing = `read the A records of ${fqdn} in the zone ${zone}`;
  return {
    ...recordsPage({ zone, page, doing, filter: { name: fqdn } }),
    subject: fqdn,
    decode: (answer) =>
      decodePage(answer, { key: "domain_records", page }, (item) => ({
        id: answeredID(item.at("id")),
        value: decodeRecord(item, relative),
      })),
  };
}

/** What a page of the A records of a zone is asked with, those of one name or all. */
interface RecordsPage {
  readonly zone: string;
  readonly page: number;
  readonly doing: string;
  readonly filter: { readonly name?: string };
}

function recordsPage({
  zone,
  page,
  doing,
  filter,
}: RecordsPage): Omit<Call<unknown>, "subject" | "decode" | "expected"> {
  return {
    operation: "records",
    doing: page === 1 ? doing : `${doing} (page ${page})`,
    scope: "domain:read",
    isWrite: false,
    notFoundAdvice: missingZone(zone),
    send: (client, configuration) =>
      client.domains
        .byDomain_name(zone)
        .records.get({ ...configuration, queryParameters: { ...filter, type: "A", page, perPage: pageSize } }),
  };
}

/** What a 404 of a zone's records means. Pure. */
export function missingZone(zone: string): string {
  return `The account has no zone ${zone}: add it there, or correct dnsRecordSet.zone.`;
}

/**
 * The A records of a whole zone; undefined where that takes more than `mostCalls`. One call per 200 records; the first answer says how many there are.
 * @throws ProviderError `not-found`, naming the zone, when the account does not have it
 */
export async function listZone(caller: Caller, zone: string, mostCalls: number): Promise<ZoneListing | undefined> {
  const readPage = (page: number): Promise<ListPage<ZoneItem<AddressRecord>>> => caller.call(zonePageCall(zone, page));
  return readZoneListing({ readPage, mostCalls, recordSetState });
}

function zonePageCall(zone: string, page: number): Call<ListPage<ZoneItem<AddressRecord>>> {
  return {
    ...recordsPage({ zone, page, doing: `list the A records of the zone ${zone}`, filter: {} }),
    subject: zone,
    decode(answer) {
      const read = decodePage(answer, { key: "domain_records", page }, (item) => ({
        id: answeredID(item.at("id")),
        value: zoneRecord(item, zone),
      }));
      return {
        ...read,
        items: read.items.map(({ id, value }) => ({ id, ...value })),
        pages: Math.ceil((read.total ?? 0) / pageSize),
      };
    },
  };
}

/** A record by its name; without `record` where it is of that name and cannot be understood. Undefined for what is no A record of a name. */
function zoneRecord(item: AnswerValue, zone: string): Omit<ZoneItem<AddressRecord>, "id"> | undefined {
  const [type, name] = [item.at("type").raw, item.at("name").raw];
  if (type !== "A" || typeof name !== "string") return undefined;
  const relative = name.toLowerCase();
  const fqdn = canonicalDNSName(relative === "@" ? zone : `${relative}.${zone}`);
  if (fqdn === undefined) return undefined;
  try {
    const record = decodeRecord(item, relative);
    return record === undefined ? { fqdn } : { fqdn, record };
  } catch (error) {
    if (error instanceof AnswerFault) return { fqdn };
    throw error;
  }
}
