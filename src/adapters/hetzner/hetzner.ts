import type {
  DNSProvider,
  DNSProviderReader,
  FirewallProvider,
  FirewallProviderReader,
  IPProvider,
  IPProviderReader,
  ProviderMeter,
} from "../../ports/providers.ts";
import { addressPorts, addressReaders } from "./addresses.ts";
import { type Client, createClient, type HetznerOptions } from "./api.ts";
import { firewallPort, firewallReader } from "./firewalls.ts";
import { RecordReader } from "./records.ts";
import { RecordWriter } from "./write-records.ts";

/** What one project of Hetzner Cloud offers. All of it shares the limits of one token, and one meter. */
interface Hetzner<Addresses, DNS, Firewalls> {
  readonly addresses: Addresses & ProviderMeter;
  readonly addressesIPv6: Addresses & ProviderMeter;
  /** Lets calls about addresses go first, and leaves a part of the limit to them. */
  readonly dns: DNS & ProviderMeter;
  readonly firewalls: Firewalls & ProviderMeter;
  readonly meter: ProviderMeter;
}

/**
 * Returns Hetzner Cloud. Sends nothing before the first call.
 * @throws ConfigError when the base URL is not usable
 */
export function openHetzner(
  options: HetznerOptions,
  client: Client = createClient(options),
): Hetzner<IPProvider, DNSProvider, FirewallProvider> {
  const { meter } = client;
  const addresses = addressPorts(client, options.clock);
  const reader = new RecordReader(client);
  const writer = new RecordWriter(client, reader, options);
  return {
    addresses: { ...addresses.IPv4, ...meter },
    addressesIPv6: { ...addresses.IPv6, ...meter },
    dns: { ...reader.port, ...writer.port, ...meter },
    firewalls: { ...firewallPort(client, options.clock), ...meter },
    meter,
  };
}

/**
 * Returns Hetzner Cloud for commands that never write: there is no method that could, at run time either.
 * @throws ConfigError when the base URL is not usable
 */
export function openHetznerReaders(
  options: HetznerOptions,
  client: Client = createClient(options),
): Hetzner<IPProviderReader, DNSProviderReader, FirewallProviderReader> {
  const { meter } = client;
  const addresses = addressReaders(client, options.clock);
  return {
    addresses: { ...addresses.IPv4, ...meter },
    addressesIPv6: { ...addresses.IPv6, ...meter },
    dns: { ...new RecordReader(client).port, ...meter },
    firewalls: { ...firewallReader(client, options.clock), ...meter },
    meter,
  };
}
