import type { FirewallProvider, ProviderMeter } from "../../ports/providers.ts";
import { type Caller, createCaller } from "./caller.ts";
import type { DigitalOceanOptions } from "./digitalocean-options.ts";
import { firewallReadOperations } from "./firewall-read-operations.ts";
import { firewallWriteOperations } from "./firewall-write-operations.ts";

/**
 * Returns DigitalOcean as a provider of cloud firewalls. Loads and sends nothing before the first call.
 * A caller of the same token is shared with other adapters by passing it; the meter then shows the calls of all of them.
 * @throws ConfigError when the base URL is not usable
 */
export function createDigitalOceanFirewalls(
  options: DigitalOceanOptions,
  caller: Caller = createCaller(options),
): FirewallProvider & ProviderMeter {
  return { ...firewallReadOperations(caller), ...firewallWriteOperations(caller), ...caller.meter };
}
