import { setText } from "../../model/record-types.ts";
import type { DNSProvider, DNSProviderReader, ProviderMeter } from "../../ports/providers.ts";
import { recordSetState } from "../dns/record-sets.ts";
import { lookPurpose } from "../http/limits.ts";
import { type Client, type CloudflareOptions, createClient } from "./api.ts";
import { listRecords, listZone, readingOf } from "./records.ts";
import { listTexts, readTexts } from "./texts.ts";
import { readTokenEnd } from "./token.ts";
import { TTL_RULES } from "./ttl.ts";
import { writeRecords } from "./write-records.ts";
import { checkedZoneID, findZone, listZoneNames, nameSubject } from "./zones.ts";

/**
 * Returns Cloudflare as a provider of DNS. Loads and sends nothing before the first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createCloudflare(
  options: CloudflareOptions,
  client: Client = createClient(options),
): DNSProvider & ProviderMeter {
  return {
    ...readerOf(client),
    writeRecords: async (zone, fqdn, change) => writeRecords(client, zone, fqdn, change),
  };
}

/**
 * Returns Cloudflare for commands that never write: there is no method that could, at run time either.
 * @throws ConfigError when the base URL is not usable
 */
export function createCloudflareReader(options: CloudflareOptions): DNSProviderReader & ProviderMeter {
  return readerOf(createClient(options));
}

function readerOf(client: Client): DNSProviderReader & ProviderMeter {
  return {
    name: "cloudflare",
    ttlRules: TTL_RULES,
    isBatched: true,
    findZone: async (zone) => findZone(client.for("recovery"), zone),
    zoneNames: async () => listZoneNames(client.for(lookPurpose(false))),
    readRecords: async (zone, fqdn, isAwaited) => {
      const subject = nameSubject(readingOf(fqdn), zone, fqdn);
      return recordSetState(setText(subject), await listRecords(client.for(lookPurpose(isAwaited)), subject));
    },
    listRecords: async (zone, mostCalls, isAwaited, type = "A") => {
      const zoneID = checkedZoneID(readingOf(zone.id), zone);
      return await listZone(client.for(lookPurpose(isAwaited)), zoneID, type, mostCalls);
    },
    listTexts: async (zone, mostCalls) => listTexts(client.for(lookPurpose(true)), zone, mostCalls),
    readTexts: async (zone, fqdn) => readTexts(client.for(lookPurpose(true)), zone, fqdn),
    tokenEndMs: async () => readTokenEnd(client.for(lookPurpose(true))),
    ...client.meter,
  };
}
