import type { DNSProvider, ProviderMeter } from "../../ports/providers.ts";
import { type Caller, createCaller } from "./caller.ts";
import type { DigitalOceanOptions } from "./digitalocean-options.ts";
import { dnsReadOperations } from "./dns-read-operations.ts";
import { dnsWriteOperations } from "./dns-write-operations.ts";

/**
 * Returns DigitalOcean as a DNS provider. Loads and sends nothing before the first call.
 * A caller of the same token is shared with other adapters by passing it; the meter then shows the calls of all of them.
 * Calls about names let those about addresses go first, and leave a part of the limit to them.
 * @throws ConfigError when the base URL is not usable
 */
export function createDigitalOceanDNS(
  options: DigitalOceanOptions,
  caller: Caller = createCaller(options),
): DNSProvider & ProviderMeter {
  const reader = dnsReadOperations(caller);
  return { ...reader, ...dnsWriteOperations(caller, reader.ttlRules), ...caller.meter };
}
