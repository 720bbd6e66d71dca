// Address records, as they are read: `/v2/domains/{domain}` and its `records`. A zone's id is its name.

import { canonicalDNSName, relativeName, type Zone } from "../../model/dns.ts";
import { type RecordSetName, type RecordType, setNamed, setText } from "../../model/record-types.ts";
import type { ListPage } from "../../ports/listing.ts";
import type { DNSProviderReader } from "../../ports/providers.ts";
import { type ARecord, readZoneListing, recordSetState, type ZoneItem } from "../dns/record-sets.ts";
import {
  ADDRESS,
  AnswerFault,
  COUNT,
  choose,
  type Fields,
  list,
  map,
  object,
  read,
  readable,
  type Schema,
  TEXT,
} from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { lookPurpose } from "../http/limits.ts";
import {
  type Client,
  callTo,
  type DigitalOceanCall,
  expectedFailure,
  listAll,
  PAGE_SIZE,
  readPage,
  refused,
} from "./api.ts";
import { ID } from "./ids.ts";
import { TTL_RULES } from "./ttl.ts";

/** Returns the reading half of the port over DigitalOcean's API. */
export function recordReader(client: Client): Omit<DNSProviderReader, "listTexts" | "readTexts"> {
  return {
    name: "digitalocean",
    ttlRules: TTL_RULES,
    isBatched: false,

    findZone: async (zone) => {
      const call = callTo("zone", zone, `find the zone ${JSON.stringify(zone)}`, "domain:read");
      const name = zoneName(call);
      return await client.for("recovery").call({
        ...callTo("zone", name, `find the zone ${name}`, "domain:read"),
        send: ({ domains }) => domains.byDomain_name(name).get(),
        read: (body) => {
          const found = read(object({ domain: object({ name: TEXT }) }), body).domain.name.toLowerCase();
          if (found === name) return { id: name, name };
          throw new AnswerFault(`domain.name is ${JSON.stringify(found.slice(0, 40))}, not ${name}`);
        },
        expected: expectedFailure("not-found", undefined),
      });
    },

    zoneNames: async () =>
      await client.for(lookPurpose(false)).call({
        ...callTo("zones", "", "list the zones", "domain:read"),
        send: ({ domains }) => domains.get({ queryParameters: { page: 1, perPage: PAGE_SIZE } }),
        read: (body) =>
          read(object({ domains: list(object({ name: TEXT })) }), body).domains.map(({ name }) => name.toLowerCase()),
      }),

    readRecords: async (zone, fqdn, isAwaited) => {
      const doing = `read ${recordsOf(fqdn)} in the zone ${JSON.stringify(zone.id)}`;
      const name = recordName(callTo("records", fqdn, doing, "domain:read"), zone);
      return recordSetState(setText(name), await listRecords(client.for(lookPurpose(isAwaited)), name));
    },

    listRecords: async ({ id }, mostCalls, isAwaited, type = "A") => {
      const doing = `list the ${type} records of the zone ${JSON.stringify(id)}`;
      const zone = zoneName(callTo("records", id, doing, "domain:read"));
      const own = client.for(lookPurpose(isAwaited));
      return await readZoneListing({ readPage: (page) => own.call(zonePageCall(zone, type, page)), mostCalls });
    },
  };
}

/** One address record. */
export interface AddressRecord extends ARecord {
  readonly id: number;
}

/**
 * Returns one set of records, by id. The API's filter is asked for name and type, and its answer is checked: it was broken once,
 * and what is of another name or type is left out. One call per 200 records.
 * @throws ProviderError `not-found`, naming the zone, when the account does not have it; `malformed` when the pages are not the
 * whole list
 */
export async function listRecords(client: Client, name: RecordName): Promise<readonly AddressRecord[]> {
  const { zone, fqdn, type } = name;
  const doing = `read the ${type} records of ${fqdn} in the zone ${zone}`;
  const item = map(anyRecord(name), ({ id, record }) => ({ id, value: record }));
  const records = await listAll(client, "records", (page) => ({
    ...recordsPage({ zone, type, page, doing, name: fqdn }),
    read: (body) => readPage(body, { key: "domain_records", page }, item),
  }));
  return records.toSorted((a, b) => a.id - b.id);
}

function zonePageCall(
  zone: string,
  type: RecordType,
  page: number,
): DigitalOceanCall<ListPage<ZoneItem<AddressRecord>>> {
  return {
    ...recordsPage({ zone, type, page, doing: `list the ${type} records of the zone ${zone}` }),
    read: (body) => {
      const items = choose((fields) =>
        map(object({ id: ID }), ({ id }) => ({ id, ...zoneRecord(fields, zone, type) })),
      );
      const answer = readPage(body, { key: "domain_records", page }, items);
      return { ...answer, pages: Math.ceil(answer.total / PAGE_SIZE) };
    },
  };
}

/** What a page of the records of one type of a zone is asked with: those of one name, or all. */
interface RecordsPage {
  readonly zone: string;
  readonly type: RecordType;
  readonly page: number;
  readonly doing: string;
  /** FQDN. */
  readonly name?: string;
}

function recordsPage({ zone, type, page, doing, name }: RecordsPage): Omit<DigitalOceanCall<never>, "read"> {
  const filter = { ...(name === undefined ? {} : { name }), type } as const;
  return {
    ...callTo(
      "records",
      name === undefined ? zone : setText({ fqdn: name, type }),
      page === 1 ? doing : `${doing} (page ${page})`,
      "domain:read",
    ),
    notFoundAdvice: missingZone(zone),
    send: ({ domains }) =>
      domains.byDomain_name(zone).records.get({ queryParameters: { ...filter, page, perPage: PAGE_SIZE } }),
  };
}

/** Returns what a 404 of a zone's records means. */
export function missingZone(zone: string): string {
  return `The account has no zone ${zone}: add it there, or correct dnsRecordSet.zone.`;
}

/** Returns a schema of a `domain_record` object. `record` is absent for a record of another type or name. */
export function anyRecord({
  relative,
  type: asked,
}: Pick<RecordName, "relative" | "type">): Schema<{ readonly id: string; readonly record?: AddressRecord }> {
  return choose<{ readonly id: string; readonly record?: AddressRecord }>(({ type, name }) => {
    const isAsked = type === asked && typeof name === "string" && name.toLowerCase() === relative;
    return isAsked ? map(ADDRESS_RECORD[asked], (record) => ({ id: String(record.id), record })) : OTHER_RECORD;
  });
}

const OTHER_RECORD = object({ id: ID, type: TEXT, name: TEXT });

const ADDRESS_RECORD: Readonly<Record<RecordType, Schema<AddressRecord>>> = {
  A: addressRecord(ADDRESS.A),
  AAAA: addressRecord(ADDRESS.AAAA),
};

function addressRecord(address: Schema<string>): Schema<AddressRecord> {
  return map(object({ id: ID, data: address, ttl: COUNT }), ({ id, data, ttl }) => ({
    id: Number(id),
    address: data,
    ttlSeconds: ttl,
  }));
}

/** A record by its set; without `record` where it is of that set and cannot be understood. Undefined for what is no record of the type. */
function zoneRecord(
  { type, name, ...fields }: Fields,
  zone: string,
  asked: RecordType,
): Omit<ZoneItem<AddressRecord>, "id"> | undefined {
  if (type !== asked || typeof name !== "string") return undefined;
  const found = canonicalDNSName(name === "@" ? zone : `${name.toLowerCase()}.${zone}`);
  if (found === undefined) return undefined;
  const fqdn = setText({ fqdn: found, type: asked });
  const record = readable(ADDRESS_RECORD[asked], fields);
  return record === undefined ? { fqdn } : { fqdn, record };
}

/** The set of records that a call is about. */
export interface RecordName extends RecordSetName {
  /** Name of the zone, canonical. */
  readonly zone: string;
  /** Canonical; what filters and texts use. */
  readonly fqdn: string;
  /** What bodies and answers use: `www`, `@` for the zone itself. */
  readonly relative: string;
}

/**
 * Returns the set of records that is the subject of a call, fit for a URL and a body.
 * @throws ProviderError `refused`, before anything is sent, when it is no DNS name in that zone
 */
export function recordName(call: CallInfo, { id }: Zone): RecordName {
  const zone = canonicalDNSName(id);
  const { fqdn: written, type } = setNamed(call.subject);
  const fqdn = canonicalDNSName(written);
  const relative = zone === undefined || fqdn === undefined ? undefined : relativeName(zone, fqdn);
  if (zone !== undefined && fqdn !== undefined && relative !== undefined) return { zone, fqdn, type, relative };
  throw refused(call, `${JSON.stringify(call.subject)} is not a name in the zone ${JSON.stringify(id)}`);
}

/** @throws ProviderError `refused`, before anything is sent, when the subject of the call is no DNS name */
function zoneName(call: CallInfo): string {
  const name = canonicalDNSName(call.subject);
  if (name !== undefined) return name;
  throw refused(call, `${JSON.stringify(call.subject)} is not the name of a zone`);
}

/** What a text says a call is about, as it was given: `the A records of "www.example.com"`. */
export function recordsOf(text: string): string {
  const { fqdn, type } = setNamed(text);
  return `the ${type} records of ${JSON.stringify(fqdn)}`;
}
