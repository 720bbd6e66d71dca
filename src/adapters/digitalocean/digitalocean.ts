import type {
  DNSProvider,
  DNSProviderReader,
  FirewallProvider,
  FirewallProviderReader,
  IPProvider,
  IPProviderReader,
  ProviderMeter,
} from "../../ports/providers.ts";
import { readOperations, writeOperations } from "./addresses.ts";
import { type Caller, createCaller, type DigitalOceanOptions } from "./api.ts";
import { firewallReadOperations, firewallWriteOperations } from "./firewalls.ts";
import { dnsReadOperations } from "./read-records.ts";
import { dnsWriteOperations } from "./write-records.ts";

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

/**
 * Returns DigitalOcean's firewalls for commands that never write: there is no method that could, at run time either.
 * A caller of the same token is shared with other adapters by passing it; the meter then shows the calls of all of them.
 * @throws ConfigError when the base URL is not usable
 */
export function createDigitalOceanFirewallsReader(
  options: DigitalOceanOptions,
  caller: Caller = createCaller(options),
): FirewallProviderReader & ProviderMeter {
  return { ...firewallReadOperations(caller), ...caller.meter };
}
