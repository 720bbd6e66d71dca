import type { Zone } from "../../model/dns.ts";
import type { DNSProviderReader } from "../../ports/providers.ts";
import { lookPurpose } from "../provider-http/call-budget.ts";
import type { Caller } from "./caller.ts";
import { zoneIDOf } from "./dns-name.ts";
import { findZone } from "./find-zone.ts";
import { listRecords, listZone, readFacts } from "./list-records.ts";
import { nameSubject } from "./name-subject.ts";
import { providerError } from "./provider-failure.ts";
import { recordSetState } from "./record-set-state.ts";
import { CLOUDFLARE_TTL_RULES } from "./ttl-rules.ts";

/** The reading half of the port over Cloudflare's API: `/zones` and `/zones/{id}/dns_records`. */
export function readOperations(caller: Caller): DNSProviderReader {
  return {
    name: "cloudflare",
    ttlRules: CLOUDFLARE_TTL_RULES,
    isBatched: true,
    findZone: async (zone) => findZone(caller.for("recovery"), zone),
    readRecords: async (zone, fqdn, isAwaited) => {
      const subject = nameSubject(readFacts(fqdn), zone, fqdn);
      return recordSetState(subject.fqdn, await listRecords(caller.for(lookPurpose(isAwaited)), subject));
    },
    listRecords: async (zone, mostCalls, isAwaited) =>
      await listZone(caller.for(lookPurpose(isAwaited)), zoneIDFor(zone), mostCalls),
  };
}

/**
 * The id of a zone. What is no id is never sent: with an empty one a request would name no zone.
 * @throws ProviderError `not-found` for what is no zone id
 */
function zoneIDFor({ id }: Zone): string {
  const zoneID = zoneIDOf(id);
  if (zoneID !== undefined) return zoneID;
  const reason = `there is no zone with the id ${JSON.stringify(id)}, which is not one of Cloudflare's`;
  throw providerError(readFacts(id), { failure: "not-found", status: 0, reason });
}
