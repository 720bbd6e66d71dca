import type { IPProvider, ProviderMeter } from "../../ports/providers.ts";
import { type Caller, createCaller } from "./caller.ts";
import type { DigitalOceanOptions } from "./digitalocean-options.ts";
import { readOperations } from "./read-operations.ts";
import { writeOperations } from "./write-operations.ts";

/**
 * Returns DigitalOcean as a provider of reserved IPs. Loads and sends nothing before the first call.
 * A caller of the same token is shared with other adapters by passing it; the meter then shows the calls of all of them.
 * @throws ConfigError when the base URL is not usable
 */
export function createDigitalOcean(
  options: DigitalOceanOptions,
  caller: Caller = createCaller(options),
): IPProvider & ProviderMeter {
  return { ...readOperations(caller), ...writeOperations(caller), ...caller.meter };
}
