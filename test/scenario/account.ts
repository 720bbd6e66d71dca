import { type DigitalOceanSandbox, digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { ProviderOptions } from "../../src/sandbox/provider.ts";

/** An empty emulated account whose actions take 300 ms, whose rate limit never matters unless a scenario lowers it. */
export function emptyAccount(options: Omit<ProviderOptions, "state" | "file">): DigitalOceanSandbox {
  const settings = { action_delay_ms: 300, rate_limit: { per_hour: 1_000_000, per_minute: 1_000_000 } };
  return digitaloceanSandbox({ ...options, state: { settings, account: { reserved_ip_limit: 100 } } });
}
