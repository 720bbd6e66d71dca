// TXT records, as they are read: `/zones/{id}/dns_records` without a filter by type, and with it for one name.

import type { Zone } from "../../model/dns.ts";
import type { TextRecord, ZoneTexts } from "../../model/external-dns.ts";
import { type ListPage, readList } from "../../ports/listing.ts";
import { comparableName } from "../dns/names.ts";
import { type AnyRecord, readZoneTexts } from "../dns/zone-texts.ts";
import { map, maybe, object, type Schema, TEXT } from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { type Client, type CloudflareCall, ID, providerError } from "./api.ts";
import { PAGE_SIZE, readingOf, readPage, ZONE_PAGE_SIZE } from "./records.ts";
import { checkedZoneID, nameSubject } from "./zones.ts";

function textsOf(subject: string): CallInfo {
  return { ...readingOf(subject), operation: "texts", doing: `read the TXT records of ${subject}` };
}

/** Returns the texts of a whole zone; undefined where that takes more than `mostCalls`: one for each 5,000 records of any type. */
export async function listTexts(client: Client, zone: Zone, mostCalls: number): Promise<ZoneTexts | undefined> {
  const zoneID = checkedZoneID(textsOf(zone.id), zone);
  const pageCall = (page: number): CloudflareCall<ListPage<AnyRecord>> => ({
    ...textsOf(zoneID),
    doing: `list the records of the zone ${zoneID}${page === 1 ? "" : ` (page ${page})`}`,
    send: ({ dns }) => dns.records.list({ zone_id: zoneID, page, per_page: ZONE_PAGE_SIZE }).asResponse(),
    read: (envelope) => readPage(envelope, ANY_RECORD, { page, pageSize: ZONE_PAGE_SIZE }),
  });
  return readZoneTexts((page) => client.call(pageCall(page)), mostCalls);
}

/** Returns the TXT records of one name. @throws ProviderError `malformed` when the pages are not the whole list */
export async function readTexts(client: Client, zone: Zone, fqdn: string): Promise<readonly TextRecord[]> {
  const reading = textsOf(fqdn);
  const subject = nameSubject(reading, zone, fqdn);
  const { items, problem } = await readList(
    (page) =>
      client.call({
        ...reading,
        send: ({ dns }) =>
          dns.records
            .list({ zone_id: subject.zoneID, name: { exact: subject.fqdn }, type: "TXT", page, per_page: PAGE_SIZE })
            .asResponse(),
        read: (envelope) => readPage(envelope, ANY_RECORD, { page, pageSize: PAGE_SIZE }),
      }),
    { keyOf: ({ id }) => id, noun: "records", totalField: "result_info.total_count" },
  );
  if (problem !== undefined) throw providerError(reading, { failure: "malformed", status: 200, reason: problem });
  return items
    .filter((record) => record.type === "TXT" && record.fqdn === subject.fqdn)
    .map(({ content }) => ({ fqdn: subject.fqdn, text: content }));
}

const ANY_RECORD: Schema<AnyRecord> = map(
  object({ id: ID, type: TEXT, name: TEXT, content: maybe(TEXT) }),
  ({ id, type, name, content = "" }) => ({ id, type, fqdn: comparableName(name), content }),
);
