// Zones and their sets of records, as they are read: `/zones` and `/zones/{zone}/rrsets`. A zone's handle is its name.
//
// A set is all records of one name and type. It may have no TTL of its own: then it has that of the zone.

import { canonicalDNSName, relativeName, type Zone } from "../../model/dns.ts";
import { type RecordSetName, type RecordType, setNamed, setText } from "../../model/record-types.ts";
import type { ListPage } from "../../ports/listing.ts";
import type { DNSProviderReader, ZoneListing } from "../../ports/providers.ts";
import { comparableName } from "../dns/names.ts";
import { type ARecord, recordSetState } from "../dns/record-sets.ts";
import { readShortList } from "../dns/zone-lists.ts";
import { type AnyRecord, readZoneTexts } from "../dns/zone-texts.ts";
import {
  ADDRESS,
  AnswerFault,
  COUNT,
  choose,
  list,
  map,
  maybe,
  object,
  readable,
  type Schema,
  TEXT,
} from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { lookPurpose } from "../http/limits.ts";
import { type Client, type HetznerCall, listAll, reading, readPage, refused, withQuery } from "./api.ts";
import { TTL_RULES } from "./traits.ts";

/** How many zones and how many sets a page of a list has: the most that the API gives. */
const ZONE_PAGE_SIZE = 50;
const SET_PAGE_SIZE = 100;

/** A set of records. */
export interface RRset {
  /** `www/A`. */
  readonly id: string;
  readonly fqdn: string;
  readonly type: string;
  /** Seconds. */
  readonly ttlSeconds: number;
  readonly records: readonly { readonly value: string; readonly comment?: string | undefined }[];
}

/** Reads zones and records of one project. */
export class RecordReader {
  readonly #client: Client;
  /** Zone → the TTL of its sets that have none of their own. */
  readonly #usualTTLs = new Map<string, number>();

  constructor(client: Client) {
    this.#client = client;
  }

  get port(): DNSProviderReader {
    return {
      name: "hetzner",
      ttlRules: TTL_RULES,
      isBatched: true,
      findZone: (zone) => this.#findZone(zone),
      zoneNames: () => this.#zoneNames(),
      readRecords: async (zone, fqdn, isAwaited) => {
        const name = recordName(zone, readingOf(fqdn));
        const set = await this.addressSet(name, this.#client.for(lookPurpose(isAwaited)));
        return recordSetState(setText(name), recordsOf(set));
      },
      listRecords: (zone, mostCalls, isAwaited, type = "A") =>
        this.#listRecords(zone, type, mostCalls, this.#client.for(lookPurpose(isAwaited))),
      listTexts: async (zone, mostCalls) => {
        const doing = `list the records of the zone ${zone.id}`;
        const name = recordName(zone, reading("texts", zone.id, doing));
        const client = this.#client.for(lookPurpose(true));
        return await readZoneTexts((page) => client.call(textsPage(name.zone, { page, doing })), mostCalls);
      },
      readTexts: async (zone, fqdn) => {
        const name = recordName(zone, reading("texts", fqdn, `read the TXT records of ${fqdn}`));
        const sets = await this.#sets(name, "TXT", this.#client.for(lookPurpose(true)));
        return sets.flatMap(({ records }) => records.map(({ value }) => ({ fqdn: name.fqdn, text: value })));
      },
    };
  }

  /** One set of address records; undefined where there is none. @throws ProviderError `malformed` where a record leads elsewhere than to an address of its family */
  async addressSet(name: RecordName, client: Client): Promise<RRset | undefined> {
    const [set] = await this.#sets(name, name.type, client);
    return set;
  }

  async #findZone(text: string): Promise<Zone | undefined> {
    const call = reading("zone", text, `find the zone ${text}`);
    const name = canonicalDNSName(text);
    if (name === undefined || name.startsWith("*"))
      throw refused(call, `${JSON.stringify(text)} is not the name of a zone`);
    const found = await this.#client.for("recovery").call({
      ...call,
      subject: name,
      send: (request) => request("GET", withQuery("/zones", { name })),
      read: (body) => readPage(body, "zones", ZONE).items.find((zone) => zone.name === name),
    });
    if (found === undefined) return undefined;
    this.#usualTTLs.set(name, found.ttl);
    return { id: name, name };
  }

  async #zoneNames(): Promise<readonly string[]> {
    return await this.#client.for(lookPurpose(false)).call({
      ...reading("zones", "", "list the zones"),
      send: (request) => request("GET", withQuery("/zones", { per_page: ZONE_PAGE_SIZE })),
      read: (body) => readPage(body, "zones", ZONE).items.map(({ name }) => name),
    });
  }

  async #listRecords(
    zone: Zone,
    type: RecordType,
    mostCalls: number,
    client: Client,
  ): Promise<ZoneListing | undefined> {
    const doing = `list the ${type} records of the zone ${zone.id}`;
    const { zone: name } = recordName(zone, reading("records", zone.id, doing));
    const pageOf = (page: number): HetznerCall<ListPage<ListedSet>> => ({
      ...setsPage(name, { type, page, doing }),
      read: (body) => readPage(body, "rrsets", listedSet(name, type)),
    });
    const all = await readShortList((page) => client.call(pageOf(page)), mostCalls);
    if (all === undefined) return undefined;
    const listed = all.items.filter((set) => set.type === type);
    const textOf = (fqdn: string): string => setText({ fqdn, type });
    const known = await this.#withTTLs(
      name,
      listed.flatMap(({ set }) => set ?? []),
      client,
    );
    return {
      names: new Map(known.map((set) => [textOf(set.fqdn), recordSetState(textOf(set.fqdn), recordsOf(set))])),
      isOneAnswer: all.isOneAnswer,
      unclear: new Set(listed.flatMap(({ fqdn, set }) => (set === undefined ? [textOf(fqdn)] : []))),
    };
  }

  /** The sets of one name and type: one, or none. What is of another name or type is left out. */
  async #sets({ zone, fqdn, relative, call }: RecordName, type: string, client: Client): Promise<readonly RRset[]> {
    const all = await listAll<ReadSet>(client, { noun: "sets", keyOf: ({ id }) => id }, (page) => ({
      ...setsPage(zone, { name: relative, type, page, doing: `read the ${type} records of ${fqdn}` }),
      operation: type === "TXT" ? "texts" : "records",
      subject: call.subject,
      read: (body) =>
        readPage(
          body,
          "rrsets",
          type === "A" || type === "AAAA" ? addressSet(zone, relative, type) : setOf(zone, TEXT),
        ),
    }));
    const own = all.filter((set) => set.fqdn === fqdn && set.type === type);
    return await this.#withTTLs(zone, own, client);
  }

  /** Gives the sets that have no TTL of their own that of the zone. */
  async #withTTLs(zone: string, sets: readonly ReadSet[], client: Client): Promise<readonly RRset[]> {
    const usual = sets.some(({ ttl }) => ttl === undefined) ? await this.#usualTTL(zone, client) : 0;
    return sets.map(({ ttl = usual, ...set }) => ({ ...set, ttlSeconds: ttl }));
  }

  async #usualTTL(zone: string, client: Client): Promise<number> {
    const known = this.#usualTTLs.get(zone);
    if (known !== undefined) return known;
    const ttl = await client.call({
      ...reading("zone", zone, `read the zone ${zone}`),
      notFoundAdvice: missingZone(zone),
      send: (request) => request("GET", `/zones/${zone}`),
      read: (body) => readZone(body, zone).ttl,
    });
    this.#usualTTLs.set(zone, ttl);
    return ttl;
  }
}

/** Returns the records of a set, one for each of its values. */
export function recordsOf(set: RRset | undefined): readonly ARecord[] {
  return (set?.records ?? []).map(({ value }) => ({ address: value, ttlSeconds: set?.ttlSeconds ?? 0 }));
}

/** The set of records that a call is about. */
export interface RecordName extends RecordSetName {
  /** Name of the zone, canonical. */
  readonly zone: string;
  /** Canonical; what texts use. */
  readonly fqdn: string;
  /** What paths, bodies and answers use: `www`, `@` for the zone itself. */
  readonly relative: string;
  readonly call: CallInfo;
}

/** Returns the name that is the subject of a call. @throws ProviderError `refused`, before anything is sent, when it is no DNS name in that zone */
export function recordName({ id }: Zone, call: CallInfo): RecordName {
  const zone = canonicalDNSName(id);
  const { fqdn: written, type } = setNamed(call.subject);
  const fqdn = canonicalDNSName(written);
  const relative = zone === undefined || fqdn === undefined ? undefined : relativeName(zone, fqdn);
  if (zone !== undefined && fqdn !== undefined && relative !== undefined) return { zone, fqdn, type, relative, call };
  throw refused(call, `${JSON.stringify(call.subject)} is not a name in the zone ${JSON.stringify(id)}`);
}

function readingOf(text: string): CallInfo {
  const { fqdn, type } = setNamed(text);
  return reading("records", text, `read the ${type} records of ${JSON.stringify(fqdn)}`);
}

/** Returns what a 404 of a zone means. */
export function missingZone(zone: string): string {
  return `The project of this token has no zone ${zone}: add it there, or correct dnsRecordSet.zone. Hetzner has no zones of subdomains.`;
}

/** What a page of sets is asked with. */
interface SetsPage {
  readonly page: number;
  readonly doing: string;
  /** Relative. Absent = all names. */
  readonly name?: string;
  /** Absent = all types. */
  readonly type?: string;
}

function setsPage(zone: string, { page, doing, name, type }: SetsPage): Omit<HetznerCall<never>, "read"> {
  return {
    ...reading("records", zone, page === 1 ? doing : `${doing} (page ${page})`),
    notFoundAdvice: missingZone(zone),
    send: (request) =>
      request("GET", withQuery(`/zones/${zone}/rrsets`, { name, type, page, per_page: SET_PAGE_SIZE })),
  };
}

function textsPage(zone: string, { page, doing }: SetsPage): HetznerCall<ListPage<AnyRecord>> {
  return {
    ...setsPage(zone, { page, doing }),
    operation: "texts",
    read: (body) => {
      const { items, hasMore, pages } = readPage(body, "rrsets", setOf(zone, TEXT));
      const records = items.flatMap(({ id, fqdn, type, records: own }) =>
        own.map(({ value }, at) => ({ id: `${id}/${at}`, fqdn, type, content: value })),
      );
      return { items: records, hasMore, ...(pages === undefined ? {} : { pages }) };
    },
  };
}

const ZONE = object({ name: map(TEXT, comparableName), ttl: COUNT });

function readZone(body: unknown, zone: string): { readonly ttl: number } {
  const found = readable(object({ zone: ZONE }), body)?.zone;
  if (found?.name === zone) return found;
  throw new AnswerFault(`zone.name is ${JSON.stringify(found?.name ?? "missing")}, not ${zone}`);
}

/** A set as it was read. Without `ttl` it has that of the zone. */
interface ReadSet extends Omit<RRset, "ttlSeconds"> {
  readonly ttl?: number | undefined;
}

function setOf(zone: string, value: Schema<string>): Schema<ReadSet> {
  const record = object({ value, comment: maybe(TEXT) });
  return map(
    object({ id: TEXT, name: TEXT, type: TEXT, ttl: maybe(COUNT), records: list(record) }),
    ({ name, ...set }) => ({
      ...set,
      fqdn: fqdnOf(zone, name),
    }),
  );
}

function fqdnOf(zone: string, relative: string): string {
  return comparableName(relative === "@" ? zone : `${relative}.${zone}`);
}

/** Reads a set. The one of this name and type must have addresses of its family; what others have is not looked at. */
function addressSet(zone: string, relative: string, asked: RecordType): Schema<ReadSet> {
  return choose(({ type, name }) => setOf(zone, type === asked && name === relative ? ADDRESS[asked] : TEXT));
}

/** One set of a zone's list; without `set` where it cannot be understood. */
interface ListedSet {
  readonly id: string;
  readonly fqdn: string;
  readonly type: string;
  readonly set?: ReadSet;
}

function listedSet(zone: string, asked: RecordType): Schema<ListedSet> {
  return choose<ListedSet>((fields) =>
    map(object({ id: TEXT, name: TEXT, type: TEXT }), ({ id, name, type }) => {
      const set = readable(setOf(zone, ADDRESS[asked]), fields);
      return { id, fqdn: fqdnOf(zone, name), type, ...(set === undefined ? {} : { set }) };
    }),
  );
}
