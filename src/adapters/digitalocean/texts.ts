// TXT records, as they are read: `/v2/domains/{domain}/records` without a filter by type, and with it for one name.

import type { Zone } from "../../model/dns.ts";
import type { TextRecord, ZoneTexts } from "../../model/external-dns.ts";
import type { ListPage } from "../../ports/listing.ts";
import type { DNSProviderReader } from "../../ports/providers.ts";
import { comparableName } from "../dns/names.ts";
import { type AnyRecord, readZoneTexts } from "../dns/zone-texts.ts";
import { map, maybe, object, type Schema, TEXT } from "../http/answer.ts";
import { lookPurpose } from "../http/limits.ts";
import { type Client, callTo, type DigitalOceanCall, listAll, PAGE_SIZE, readPage } from "./api.ts";
import { ID } from "./ids.ts";
import { missingZone, recordName } from "./records.ts";

/** Returns what the port reads of texts. */
export function textReader(client: Client): Pick<DNSProviderReader, "listTexts" | "readTexts"> {
  const own = client.for(lookPurpose(true));
  return {
    listTexts: async (zone, mostCalls) => listTexts(own, zone, mostCalls),
    readTexts: async (zone, fqdn) => readTexts(own, zone, fqdn),
  };
}

/** Returns the texts of a whole zone; undefined where that takes more than `mostCalls`: one for each 200 records of any type. */
async function listTexts(client: Client, zone: Zone, mostCalls: number): Promise<ZoneTexts | undefined> {
  const { zone: name } = recordName(callTo("texts", zone.id, "", "domain:read"), zone);
  const doing = `list the records of the zone ${name}`;
  const pageCall = (page: number): DigitalOceanCall<ListPage<AnyRecord>> => ({
    ...textsPage({ zone: name, page, doing }),
    read: (body) => {
      const answer = readPage(body, { key: "domain_records", page }, anyRecordOf(name));
      return { ...answer, pages: Math.ceil(answer.total / PAGE_SIZE) };
    },
  });
  return readZoneTexts((page) => client.call(pageCall(page)), mostCalls);
}

/** Returns the TXT records of one name. @throws ProviderError `malformed` when the pages are not the whole list */
async function readTexts(client: Client, zone: Zone, fqdn: string): Promise<readonly TextRecord[]> {
  const doing = `read the TXT records of ${fqdn} in the zone ${zone.id}`;
  const name = recordName(callTo("texts", fqdn, doing, "domain:read"), zone);
  const item = map(anyRecordOf(name.zone), (record) => ({ id: record.id, value: record }));
  const records = await listAll(client, "records", (page) => ({
    ...textsPage({ zone: name.zone, page, doing, name: name.fqdn }),
    read: (body) => readPage(body, { key: "domain_records", page }, item),
  }));
  const own = records.filter((record) => record.type === "TXT" && record.fqdn === name.fqdn);
  return own.map(({ content }) => ({ fqdn: name.fqdn, text: content }));
}

/** What a page of records is asked with: the TXT records of one name, or all records of the zone. */
interface TextsPage {
  readonly zone: string;
  readonly page: number;
  readonly doing: string;
  readonly name?: string;
}

function textsPage({ zone, page, doing, name }: TextsPage): Omit<DigitalOceanCall<never>, "read"> {
  const filter = name === undefined ? {} : ({ name, type: "TXT" } as const);
  return {
    ...callTo("texts", name ?? zone, page === 1 ? doing : `${doing} (page ${page})`, "domain:read"),
    notFoundAdvice: missingZone(zone),
    send: ({ domains }) =>
      domains.byDomain_name(zone).records.get({ queryParameters: { ...filter, page, perPage: PAGE_SIZE } }),
  };
}

function anyRecordOf(zone: string): Schema<AnyRecord> {
  return map(object({ id: ID, type: TEXT, name: TEXT, data: maybe(TEXT) }), ({ id, type, name, data = "" }) => ({
    id,
    type,
    fqdn: comparableName(name === "@" ? zone : `${name}.${zone}`),
    content: data,
  }));
}
