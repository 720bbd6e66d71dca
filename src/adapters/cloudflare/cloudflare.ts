import type { Zone } from "../../model/dns.ts";
import type { DNSProvider, DNSProviderReader, ProviderMeter } from "../../ports/providers.ts";
import { lookPurpose } from "../provider-http/limits.ts";
import { type Caller, type CloudflareOptions, createCaller, providerError } from "./api.ts";
import { listRecords, listZone, readFacts, recordSetState } from "./read-records.ts";
import { CLOUDFLARE_TTL_RULES, writeRecords } from "./write-records.ts";
import { findZone, nameSubject, zoneIDOf } from "./zones.ts";

/**
 * Returns Cloudflare as a provider of DNS. Loads and sends nothing before the first call.
 * A caller is made unless one is given.
 * @throws ConfigError when the base URL is not usable
 */
export function createCloudflare(
  options: CloudflareOptions,
  caller: Caller = createCaller(options),
): DNSProvider & ProviderMeter {
  return {
    ...readOperations(caller),
    writeRecords: async (zone, fqdn, change) => writeRecords(caller, zone, fqdn, change),
    ...caller.meter,
  };
}

/**
 * Returns Cloudflare for commands that never write: there is no method that could, at run time either.
 * @throws ConfigError when the base URL is not usable
 */
export function createCloudflareReader(options: CloudflareOptions): DNSProviderReader & ProviderMeter {
  const caller = createCaller(options);
  return { ...readOperations(caller), ...caller.meter };
}

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
