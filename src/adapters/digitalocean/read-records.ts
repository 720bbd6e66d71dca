import { canonicalDNSName, type RecordSetState, relativeName, type Zone } from "../../model/dns.ts";
import type { ListPage } from "../../ports/listing.ts";
import type { DNSProviderReader, ZoneListing } from "../../ports/providers.ts";
import { AnswerFault, type AnswerValue, jsonOf } from "../provider-http/answer.ts";
import { lookPurpose } from "../provider-http/limits.ts";
import type { CallFacts } from "../provider-http/provider-caller.ts";
import { readZoneListing, type ZoneItem } from "../provider-http/record-sets.ts";
import {
  type Call,
  type Caller,
  decodePage,
  expectedFailure,
  type ItemPage,
  listAll,
  pageSize,
  providerError,
} from "./api.ts";
import { answeredID } from "./ids.ts";

/** The reading half of the port over DigitalOcean's API: `/v2/domains/{domain}` and its `records`. A zone's id is its name. */
export function dnsReadOperations(caller: Caller): DNSProviderReader {
  return {
    name: "digitalocean",
    ttlRules: { minimumSeconds: 30 },
    isBatched: false,
    findZone: async (zone) => caller.for("recovery").call(zoneCall(zone)),
    readRecords: async (zone, fqdn, isAwaited) => {
      const name = recordName(readFacts(zone, fqdn), zone, fqdn);
      return recordSetState(name.fqdn, await listRecords(caller.for(lookPurpose(isAwaited)), name));
    },
    listRecords: async (zone, mostCalls, isAwaited) => {
      const doing = `list the A records of the zone ${JSON.stringify(zone.id)}`;
      const facts = { operation: "records", doing, scope: "domain:read", isWrite: false };
      return await listZone(caller.for(lookPurpose(isAwaited)), zoneSubject(facts, zone.id), mostCalls);
    },
  };
}

function readFacts(zone: Zone, fqdn: string): Parameters<typeof recordName>[0] {
  const doing = `read the A records of ${JSON.stringify(fqdn)} in the zone ${JSON.stringify(zone.id)}`;
  return { operation: "records", doing, scope: "domain:read", isWrite: false };
}

function zoneCall(zone: string): Call<Zone | undefined> {
  const doing = `find the zone ${JSON.stringify(zone)}`;
  const facts = { operation: "zone", doing, scope: "domain:read", isWrite: false };
  const subject = zoneSubject(facts, zone);
  return {
    ...facts,
    doing: `find the zone ${subject}`,
    subject,
    send: (client, configuration) => client.domains.byDomain_name(subject).get(configuration),
    decode(answer) {
      const name = jsonOf(answer).at("domain").at("name").text().toLowerCase();
      if (name !== subject)
        throw new AnswerFault(`domain.name is ${JSON.stringify(name.slice(0, 40))}, not ${subject}`);
      return { id: name, name };
    },
    expected: expectedFailure("not-found", undefined),
  };
}

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
async function listZone(caller: Caller, zone: string, mostCalls: number): Promise<ZoneListing | undefined> {
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

/** The records of a name in the port's form. Pure. */
export function recordSetState(fqdn: string, records: readonly AddressRecord[]): RecordSetState {
  const addresses = [...new Set(records.map((record) => record.ip))].sort();
  const [ttlSeconds, ...otherTTLs] = new Set(records.map((record) => record.ttlSeconds));
  return {
    fqdn,
    addresses,
    ...(ttlSeconds === undefined || otherTTLs.length > 0 ? {} : { ttlSeconds }),
    isTTLAutomatic: false,
    hasDuplicates: addresses.length < records.length,
  };
}

/** One A record. */
export interface AddressRecord {
  readonly id: number;
  readonly ip: string;
  readonly ttlSeconds: number;
}

/**
 * The A record of this relative name in a `domain_record` object; undefined for a record of another type or name.
 * @throws AnswerFault
 */
export function decodeRecord(value: AnswerValue, relativeName: string): AddressRecord | undefined {
  const type = value.at("type").text();
  const name = value.at("name").text();
  if (type !== "A" || name.toLowerCase() !== relativeName) return undefined;
  return {
    id: Number(answeredID(value.at("id"))),
    ip: value.at("data").ipv4(),
    ttlSeconds: value.at("ttl").count(),
  };
}

/** A name whose records a call is about. */
export interface RecordName {
  /** Name of the zone, canonical. */
  readonly zone: string;
  /** Canonical; what filters and texts use. */
  readonly fqdn: string;
  /** What bodies and answers use: `www`, `@` for the zone itself. */
  readonly relative: string;
}

/**
 * A name that may go into a URL and a body.
 * @throws ProviderError `refused`, before anything is sent, when it is no DNS name in that zone
 */
export function recordName(facts: Omit<CallFacts, "subject">, zone: Zone, fqdn: string): RecordName {
  const zoneName = canonicalDNSName(zone.id);
  const name = canonicalDNSName(fqdn);
  const relative = zoneName === undefined || name === undefined ? undefined : relativeName(zoneName, name);
  if (zoneName !== undefined && name !== undefined && relative !== undefined) {
    return { zone: zoneName, fqdn: name, relative };
  }
  const reason = `${JSON.stringify(fqdn)} is not a name in the zone ${JSON.stringify(zone.id)}`;
  throw providerError({ ...facts, subject: fqdn }, { failure: "refused", status: 0, reason });
}

/**
 * The canonical name of a zone that may go into a URL.
 * @throws ProviderError `refused`, before anything is sent, when it is no DNS name
 */
function zoneSubject(facts: Omit<CallFacts, "subject">, zone: string): string {
  const name = canonicalDNSName(zone);
  if (name !== undefined) return name;
  const reason = `${JSON.stringify(zone)} is not the name of a zone`;
  throw providerError({ ...facts, subject: zone }, { failure: "refused", status: 0, reason });
}
