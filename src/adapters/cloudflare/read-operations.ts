import type { DNSProviderReader } from "../../ports/dns-provider.ts";
import type { Caller } from "./caller.ts";
import { findZone } from "./find-zone.ts";
import { listRecords, readFacts } from "./list-records.ts";
import { nameSubject } from "./name-subject.ts";
import { recordSetState } from "./record-set-state.ts";
import { CLOUDFLARE_TTL_RULES } from "./ttl-rules.ts";

/** The reading half of the port over Cloudflare's API: `/zones` and `/zones/{id}/dns_records`. */
export function readOperations(caller: Caller): DNSProviderReader {
  return {
    name: "cloudflare",
    ttlRules: CLOUDFLARE_TTL_RULES,
    isBatched: true,
    findZone: async (zone) => findZone(caller, zone),
    readRecords: async (zone, fqdn) => {
      const subject = nameSubject(readFacts(fqdn), zone, fqdn);
      return recordSetState(subject.fqdn, await listRecords(caller, subject));
    },
  };
}
