import { domainToASCII } from "node:url";
import { canonicalDNSName, relativeName, type Zone } from "../../model/dns.ts";
import { AnswerFault, type AnswerValue } from "../provider-http/answer.ts";
import type { CallFacts } from "../provider-http/provider-caller.ts";
import { answeredID, type Call, type Caller, infoCount, providerError } from "./api.ts";

/** The most zones that Cloudflare lists on one page. */
const pageSize = 50;

/**
 * The zone of this name or 32-hex id; undefined when the token sees none. An id whose zone the token may not read is taken
 * as it is, without name.
 * @throws ProviderError, `refused` also when the text is neither a name nor an id, or names several zones
 */
export async function findZone(caller: Caller, zone: string): Promise<Zone | undefined> {
  const facts: CallFacts = {
    operation: "zone",
    subject: zone,
    doing: `find the zone ${zone}`,
    scope: "Zone / Zone / Read (or name the zone by its id)",
    isWrite: false,
  };
  const refuse = (reason: string) => providerError(facts, { failure: "refused", status: 0, reason });
  const zoneID = zoneIDOf(zone);
  if (zoneID !== undefined) return caller.call(getCall(facts, zoneID));
  const name = canonicalName(zone);
  if (name === undefined || name.startsWith("*"))
    throw refuse(`${JSON.stringify(zone)} is neither the name nor the id of a zone`);
  const found = await caller.call(listCall(facts, name));
  const active = found.filter((one) => one.isActive);
  const [only, another] = active.length > 0 ? active : found;
  if (another !== undefined) throw refuse("several zones have that name; name the zone by its id");
  return only === undefined ? undefined : { id: only.id, name };
}

interface ListedZone {
  readonly id: string;
  readonly isActive: boolean;
}

function listCall(facts: CallFacts, name: string): Call<readonly ListedZone[]> {
  return {
    ...facts,
    send: (client) => client.zones.list({ name, per_page: pageSize }).asResponse(),
    decode(envelope) {
      const zones = envelope.at("result").items();
      const total = infoCount(envelope, "total_count") ?? zones.length;
      if (total > zones.length) throw new AnswerFault(`result has ${zones.length} of ${total} zones of one name`);
      return zones.map((zone) => decodeListed(zone, name));
    },
  };
}

function decodeListed(zone: AnswerValue, name: string): ListedZone {
  if (answeredName(zone.at("name")) !== name) throw zone.at("name").fault(name);
  const id = zoneIDOf(answeredID(zone.at("id")));
  if (id === undefined) throw zone.at("id").fault("a zone id");
  return { id, isActive: zone.at("status").raw === "active" };
}

function getCall(facts: CallFacts, zoneID: string): Call<Zone | undefined> {
  return {
    ...facts,
    send: (client) => client.zones.get({ zone_id: zoneID }).asResponse(),
    decode(envelope) {
      const zone = envelope.at("result");
      if (zone.at("id").text().toLowerCase() !== zoneID) throw zone.at("id").fault(zoneID);
      return { id: zoneID, name: answeredName(zone.at("name")) };
    },
    expected({ error, hasModel }) {
      if (error.failure === "not-found") return { value: undefined };
      return error.failure === "forbidden" && hasModel ? { value: { id: zoneID } } : undefined;
    },
  };
}

/** A record name and the zone it is in, both fit for a request. */
export interface NameSubject {
  readonly zoneID: string;
  readonly fqdn: string;
}

/**
 * The name of a record set and the id of its zone, checked. Cloudflare would list the records of no zone for an empty id, and
 * would create a name outside the zone below the zone.
 * @throws ProviderError, before anything is sent: `refused` for what is no name in that zone, `not-found` for what is no zone id
 */
export function nameSubject(facts: CallFacts, zone: Zone, fqdn: string): NameSubject {
  const refuse = (reason: string) => providerError(facts, { failure: "refused", status: 0, reason });
  const name = canonicalName(fqdn);
  if (name === undefined) throw refuse(`${JSON.stringify(fqdn)} is not a DNS name`);
  if (zone.name !== undefined && relativeName(zone.name, name) === undefined) {
    throw refuse(`it is not in the zone ${zone.name}`);
  }
  const zoneID = zoneIDOf(zone.id);
  if (zoneID === undefined) {
    const reason = `there is no zone with the id ${JSON.stringify(zone.id)}, which is not one of Cloudflare's`;
    throw providerError(facts, { failure: "not-found", status: 0, reason });
  }
  return { zoneID, fqdn: name };
}

/** A DNS name in lower case, in Punycode, without trailing dot, `*` only as its first label; undefined when the text is none. */
export function canonicalName(text: string): string | undefined {
  return canonicalDNSName(/^[\x21-\x7e]*$/.test(text) ? text : domainToASCII(text));
}

/** The text as a zone id (32 hexadecimal digits, lower case); undefined when it is none. */
export function zoneIDOf(text: string): string | undefined {
  return /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined;
}

/**
 * The DNS name that a value is, in lower case, in Punycode, without trailing dot.
 * @throws AnswerFault
 */
export function answeredName(value: AnswerValue): string {
  const name = typeof value.raw === "string" ? canonicalName(value.raw) : undefined;
  if (name === undefined) throw value.fault("a DNS name");
  return name;
}
