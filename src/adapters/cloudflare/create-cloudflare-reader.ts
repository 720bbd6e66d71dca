import type { DNSProviderReader, ProviderMeter } from "../../ports/providers.ts";
import { createCaller } from "./caller.ts";
import type { CloudflareOptions } from "./cloudflare-options.ts";
import { readOperations } from "./read-operations.ts";

/**
 * Returns Cloudflare for commands that never write: there is no method that could, at run time either.
 * @throws ConfigError when the base URL is not usable
 */
export function createCloudflareReader(options: CloudflareOptions): DNSProviderReader & ProviderMeter {
  const caller = createCaller(options);
  return { ...readOperations(caller), ...caller.meter };
}
