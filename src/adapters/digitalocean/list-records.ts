import { canonicalDNSName } from "../../model/dns-name.ts";
import type { ZoneListing } from "../../ports/dns-provider.ts";
import { AnswerFault, type AnswerValue } from "../provider-http/answer-value.ts";
import { answeredID } from "./answered-id.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { type AddressRecord, decodeRecord } from "./decode-record.ts";
import { decodePage, type ListPage, listAll, pageSize } from "./list-all.ts";
import type { RecordName } from "./record-name.ts";
import { recordSetState } from "./record-set-state.ts";

/**
 * The A records of one name, by id. The API's filter is asked for name and type, and its answer is checked: it was broken once,
 * and what is of another name or type is left out. One call per 200 records.
 * @throws ProviderError `not-found`, naming the zone, when the account does not have it; `malformed` when the pages do not hold as
 * many records as they say
 */
export async function listRecords(caller: Caller, name: RecordName): Promise<readonly AddressRecord[]> {
  const records = await listAll(caller, "records", (page) => pageCall(name, page));
  return records.toSorted((a, b) => a.id - b.id);
}

function pageCall({ zone, fqdn, relative }: RecordName, page: number): Call<ListPage<AddressRecord>> {
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

/** A records of a zone on one page, by the relative name they have there; without `record` where one cannot be understood. */
interface ZonePage {
  readonly records: readonly { readonly id: string; readonly relative: string; readonly record?: AddressRecord }[];
  readonly total: number;
}

/**
 * The A records of a whole zone; undefined where that takes more than `mostCalls`. One call per 200 records; the first answer says how many there are.
 * @throws ProviderError `not-found`, naming the zone, when the account does not have it
 */
export async function listZone(caller: Caller, zone: string, mostCalls: number): Promise<ZoneListing | undefined> {
  const items = new Map<string, ZonePage["records"][number]>();
  const first = await caller.call(zonePageCall(zone, 1));
  const pages = Math.ceil(first.total / pageSize);
  if (pages > mostCalls) return undefined;
  for (const item of first.records) items.set(item.id, item);
  for (let page = 2; page <= pages; page += 1)
    for (const item of (await caller.call(zonePageCall(zone, page))).records) items.set(item.id, item);
  return listingOf(zone, [...items.values()], pages <= 1);
}

function listingOf(zone: string, items: ZonePage["records"], isOneAnswer: boolean): ZoneListing {
  const byName = Map.groupBy(items, ({ relative }) =>
    canonicalDNSName(relative === "@" ? zone : `${relative}.${zone}`),
  );
  const known = [...byName].flatMap(([fqdn, own]) => (fqdn === undefined ? [] : [{ fqdn, own }]));
  const isUnclear = ({ own }: { readonly own: ZonePage["records"] }): boolean =>
    own.some(({ record }) => record === undefined);
  return {
    names: new Map(
      known.map(({ fqdn, own }) => [
        fqdn,
        recordSetState(
          fqdn,
          own.flatMap(({ record }) => record ?? []),
        ),
      ]),
    ),
    isOneAnswer,
    unclear: new Set(known.filter(isUnclear).map(({ fqdn }) => fqdn)),
  };
}

function zonePageCall(zone: string, page: number): Call<ZonePage> {
  return {
    operation: "records",
    subject: zone,
    doing: `list the A records of the zone ${zone}${page === 1 ? "" : ` (page ${page})`}`,
    scope: "domain:read",
    isWrite: false,
    notFoundAdvice: missingZone(zone),
    send: (client, configuration) =>
      client.domains
        .byDomain_name(zone)
        .records.get({ ...configuration, queryParameters: { type: "A", page, perPage: pageSize } }),
    decode(answer) {
      const { items, total } = decodePage(answer, { key: "domain_records", page }, (item) => ({
        id: answeredID(item.at("id")),
        value: zoneRecord(item),
      }));
      return { records: items.flatMap(({ id, value }) => (value === undefined ? [] : [{ id, ...value }])), total };
    },
  };
}

/** A record of the zone by its relative name; without `record` where it is of that name and cannot be understood. Undefined for another type. */
function zoneRecord(item: AnswerValue): { readonly relative: string; readonly record?: AddressRecord } | undefined {
  const [type, name] = [item.at("type").raw, item.at("name").raw];
  if (type !== "A" || typeof name !== "string") return undefined;
  const relative = name.toLowerCase();
  try {
    const record = decodeRecord(item, relative);
    return record === undefined ? { relative } : { relative, record };
  } catch (error) {
    if (error instanceof AnswerFault) return { relative };
    throw error;
  }
}
