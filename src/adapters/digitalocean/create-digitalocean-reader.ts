import type { IPProviderReader, ProviderMeter } from "../../ports/ip-provider.ts";
import { createCaller } from "./caller.ts";
import type { DigitalOceanOptions } from "./digitalocean-options.ts";
import { readOperations } from "./read-operations.ts";

/**
 * Returns DigitalOcean for commands that never write: there is no method that could, at run time either.
 * @throws ConfigError when the base URL is not usable
 */
export function createDigitalOceanReader(options: DigitalOceanOptions): IPProviderReader & ProviderMeter {
  const caller = createCaller(options);
  const { calls, rateLimit } = caller;
  return { ...readOperations(caller), calls, rateLimit };
}
