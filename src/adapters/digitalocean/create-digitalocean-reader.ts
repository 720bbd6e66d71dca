import type { IPProviderReader, ProviderMeter } from "../../ports/providers.ts";
import { type Caller, createCaller } from "./caller.ts";
import type { DigitalOceanOptions } from "./digitalocean-options.ts";
import { readOperations } from "./read-operations.ts";

/**
 * Returns DigitalOcean for commands that never write: there is no method that could, at run time either.
 * A caller of the same token is shared with other adapters by passing it; the meter then shows the calls of all of them.
 * @throws ConfigError when the base URL is not usable
 */
export function createDigitalOceanReader(
  options: DigitalOceanOptions,
  caller: Caller = createCaller(options),
): IPProviderReader & ProviderMeter {
  return { ...readOperations(caller), ...caller.meter };
}
