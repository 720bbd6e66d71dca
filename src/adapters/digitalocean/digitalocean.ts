import type {
  DNSProvider,
  DNSProviderReader,
  FirewallProvider,
  FirewallProviderReader,
  IPProvider,
  IPProviderReader,
  ProviderMeter,
} from "../../ports/providers.ts";
import { addressReader, addressWriter } from "./addresses.ts";
import { addressesIPv6, addressReaderIPv6 } from "./addresses-ipv6.ts";
import { type Client, createClient, type DigitalOceanOptions } from "./api.ts";
import { firewallReader, firewallWriter } from "./firewalls.ts";
import { recordReader } from "./records.ts";
import { textReader } from "./texts.ts";
import { recordWriter } from "./write-records.ts";

/** What DigitalOcean offers. All of it shares the limits of one token, so that a 429 stops all of it, and one meter. */
interface DigitalOcean<Addresses, DNS, Firewalls> {
  readonly addresses: Addresses & ProviderMeter;
  readonly addressesIPv6: Addresses & ProviderMeter;
  /** Lets calls about addresses and firewalls go first, and leaves a part of the limit to them. */
  readonly dns: DNS & ProviderMeter;
  readonly firewalls: Firewalls & ProviderMeter;
  readonly meter: ProviderMeter;
}

/**
 * Returns DigitalOcean. Loads and sends nothing before the first call.
 * @throws ConfigError when the base URL is not usable
 */
export function openDigitalOcean(
  options: DigitalOceanOptions,
  client: Client = createClient(options),
): DigitalOcean<IPProvider, DNSProvider, FirewallProvider> {
  const { addresses, addressesIPv6: readerIPv6, dns, firewalls } = readersOf(client);
  return {
    addresses: { ...addresses, ...addressWriter(client) },
    addressesIPv6: addressesIPv6(readerIPv6, client, options.clock),
    dns: { ...dns, ...recordWriter(client) },
    firewalls: { ...firewalls, ...firewallWriter(client) },
    meter: client.meter,
  };
}

/**
 * Returns DigitalOcean for commands that never write: there is no method that could, at run time either.
 * @throws ConfigError when the base URL is not usable
 */
export function openDigitalOceanReaders(
  options: DigitalOceanOptions,
  client: Client = createClient(options),
): DigitalOcean<IPProviderReader, DNSProviderReader, FirewallProviderReader> {
  return readersOf(client);
}

function readersOf(client: Client): DigitalOcean<IPProviderReader, DNSProviderReader, FirewallProviderReader> {
  const { meter } = client;
  return {
    addresses: { ...addressReader(client), ...meter },
    addressesIPv6: { ...addressReaderIPv6(client), ...meter },
    dns: { ...recordReader(client), ...textReader(client), ...meter },
    firewalls: { ...firewallReader(client), ...meter },
    meter,
  };
}
