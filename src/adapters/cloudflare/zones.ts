// Zones: `/zones`, found by name or by id.

import { relativeName, type Zone } from "../../model/dns.ts";
import { type RecordSetName, setNamed } from "../../model/record-types.ts";
import { canonicalName } from "../dns/names.ts";
import { ANY, AnswerFault, check, map, object, read, type Schema, TEXT, textLike } from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { type Client, type CloudflareCall, ID, providerError, readItems, refused } from "./api.ts";

/** The most zones that Cloudflare lists on one page. */
const PAGE_SIZE = 50;

/**
 * Returns the zone of this name or 32-hex id; undefined when the token sees none. An id whose zone the token may not read is taken
 * as it is, without name.
 * @throws ProviderError, `refused` also when the text is neither a name nor an id, or names several zones
 */
export async function findZone(client: Client, zone: string): Promise<Zone | undefined> {
  const scope = "Zone / Zone / Read (or name the zone by its id)";
  const call = { operation: "zone", subject: zone, doing: `find the zone ${zone}`, scope, isWrite: false };
  const zoneID = zoneIDOf(zone);
  if (zoneID !== undefined) return client.call(getCall(call, zoneID));
  const name = canonicalName(zone);
  if (name === undefined || name.startsWith("*"))
    throw refused(call, `${JSON.stringify(zone)} is neither the name nor the id of a zone`);
  const found = await client.call(listCall(call, name));
  const active = found.filter(({ isActive }) => isActive);
  const [only, another] = active.length > 0 ? active : found;
  if (another !== undefined) throw refused(call, "several zones have that name; name the zone by its id");
  return only === undefined ? undefined : { id: only.id, name };
}

/** Returns the names of zones that the token sees, of one page of them. @throws ProviderError */
export async function listZoneNames(client: Client): Promise<readonly string[]> {
  const scope = "Zone / Zone / Read";
  return await client.call({
    ...{ operation: "zones", subject: "", doing: "list the zones", scope, isWrite: false },
    send: ({ zones }) => zones.list({ per_page: PAGE_SIZE }).asResponse(),
    read: (envelope) => readItems(envelope, object({ name: NAME })).items.map(({ name }) => name),
  });
}

interface ListedZone {
  readonly id: string;
  readonly isActive: boolean;
}

function listCall(call: CallInfo, name: string): CloudflareCall<readonly ListedZone[]> {
  const id = check(ID, (text) => zoneIDOf(text) !== undefined, "a zone id");
  const zone = map(object({ name: nameLike(name), id, status: ANY }), (found) => ({
    id: found.id.toLowerCase(),
    isActive: found.status === "active",
  }));
  return {
    ...call,
    send: ({ zones }) => zones.list({ name, per_page: PAGE_SIZE }).asResponse(),
    read: (envelope) => {
      const { items, total = items.length } = readItems(envelope, zone);
      if (total <= items.length) return items;
      throw new AnswerFault(`result has ${items.length} of ${total} zones of one name`);
    },
  };
}

function getCall(call: CallInfo, zoneID: string): CloudflareCall<Zone | undefined> {
  const id = check(TEXT, (text) => text.toLowerCase() === zoneID, zoneID);
  return {
    ...call,
    send: ({ zones }) => zones.get({ zone_id: zoneID }).asResponse(),
    read: (envelope) => ({
      id: zoneID,
      name: read(object({ result: object({ id, name: NAME }) }), envelope).result.name,
    }),
    expected: ({ error, isFromAPI }) => {
      if (error.failure === "not-found") return { value: undefined };
      return error.failure === "forbidden" && isFromAPI ? { value: { id: zoneID } } : undefined;
    },
  };
}

/** A set of records and the zone it is in, both fit for a request. */
export interface NameSubject extends RecordSetName {
  readonly zoneID: string;
}

/**
 * Returns the name of a record set and the id of its zone, checked. Cloudflare would list the records of no zone for an empty id, and
 * would create a name outside the zone below the zone.
 * @throws ProviderError, before anything is sent: `refused` for what is no name in that zone, `not-found` for what is no zone id
 */
export function nameSubject(call: CallInfo, zone: Zone, text: string): NameSubject {
  const { fqdn: written, type } = setNamed(text);
  const name = canonicalName(written);
  if (name === undefined) throw refused(call, `${JSON.stringify(written)} is not a DNS name`);
  if (zone.name !== undefined && relativeName(zone.name, name) === undefined) {
    throw refused(call, `it is not in the zone ${zone.name}`);
  }
  return { zoneID: checkedZoneID(call, zone), fqdn: name, type };
}

/** @throws ProviderError `not-found`, before anything is sent, for what is no zone id: with an empty one a request would name no zone */
export function checkedZoneID(call: CallInfo, { id }: Zone): string {
  const zoneID = zoneIDOf(id);
  if (zoneID !== undefined) return zoneID;
  const reason = `there is no zone with the id ${JSON.stringify(id)}, which is not one of Cloudflare's`;
  throw providerError(call, { failure: "not-found", status: 0, reason });
}

/** Returns the text as a zone id (32 hexadecimal digits, lower case); undefined when it is none. */
function zoneIDOf(text: string): string | undefined {
  return /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined;
}

const WRITTEN_NAME: Schema<string> = textLike((text) => canonicalName(text) !== undefined, "a DNS name");

/** Reads a DNS name, in lower case, in Punycode, without trailing dot. */
export const NAME: Schema<string> = map(WRITTEN_NAME, (text) => canonicalName(text) ?? "");

/** Returns a schema of this DNS name, however it is written. */
export function nameLike(fqdn: string): Schema<string> {
  return map(
    check(WRITTEN_NAME, (text) => canonicalName(text) === fqdn, fqdn),
    () => fqdn,
  );
}
