import { canonicalDNSName, relativeName, type Zone } from "../../model/dns.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import { providerError } from "./provider-failure.ts";

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
export function zoneSubject(facts: Omit<CallFacts, "subject">, zone: string): string {
  const name = canonicalDNSName(zone);
  if (name !== undefined) return name;
  const reason = `${JSON.stringify(zone)} is not the name of a zone`;
  throw providerError({ ...facts, subject: zone }, { failure: "refused", status: 0, reason });
}
