import { relativeName, type Zone } from "../../model/dns.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import { canonicalName, zoneIDOf } from "./dns-name.ts";
import { providerError } from "./provider-failure.ts";

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
