import type { IPProvider, ProviderMeter } from "../../ports/ip-provider.ts";
import { createCaller } from "./caller.ts";
import type { DigitalOceanOptions } from "./digitalocean-options.ts";
import { readOperations } from "./read-operations.ts";
import { writeOperations } from "./write-operations.ts";

/**
 * Returns DigitalOcean as a provider of reserved IPs. Loads and sends nothing before the first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createDigitalOcean(options: DigitalOceanOptions): IPProvider & ProviderMeter {
  const caller = createCaller(options);
  const { calls, rateLimit } = caller;
  return { ...readOperations(caller), ...writeOperations(caller), calls, rateLimit };
}
