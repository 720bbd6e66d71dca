import type { DNSProvider, ProviderMeter } from "../../ports/providers.ts";
import { createCaller } from "./caller.ts";
import type { CloudflareOptions } from "./cloudflare-options.ts";
import { readOperations } from "./read-operations.ts";
import { writeRecords } from "./write-records.ts";

/**
 * Returns Cloudflare as a provider of DNS. Loads and sends nothing before the first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createCloudflare(options: CloudflareOptions): DNSProvider & ProviderMeter {
  const caller = createCaller(options);
  return {
    ...readOperations(caller),
    writeRecords: async (zone, fqdn, change) => writeRecords(caller, zone, fqdn, change),
    ...caller.meter,
  };
}
