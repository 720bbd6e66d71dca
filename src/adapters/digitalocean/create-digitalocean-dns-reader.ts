import type { DNSProviderReader, ProviderMeter } from "../../ports/providers.ts";
import { type Caller, createCaller } from "./caller.ts";
import type { DigitalOceanOptions } from "./digitalocean-options.ts";
import { dnsReadOperations } from "./dns-read-operations.ts";

/**
 * Returns DigitalOcean's DNS for commands that never write: there is no method that could, at run time either.
 * A caller of the same token is shared with other adapters by passing it; the meter then shows the calls of all of them.
 * Calls about names let those about addresses go first, and leave a part of the limit to them.
 * @throws ConfigError when the base URL is not usable
 */
export function createDigitalOceanDNSReader(
  options: DigitalOceanOptions,
  caller: Caller = createCaller(options),
): DNSProviderReader & ProviderMeter {
  return { ...dnsReadOperations(caller), ...caller.meter };
}
