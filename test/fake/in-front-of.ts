import type { DNSProvider } from "../../src/ports/providers.ts";
import type { MemoryDNSProvider } from "./memory-dns-provider.ts";

/** Another provider in front of a real one: some methods of it are exchanged. */
export function inFrontOf(provider: MemoryDNSProvider, other: Partial<DNSProvider>): DNSProvider {
  return {
    name: provider.name,
    ttlRules: provider.ttlRules,
    isBatched: provider.isBatched,
    findZone: async (zone) => provider.findZone(zone),
    readRecords: async (zone, fqdn) => provider.readRecords(zone, fqdn),
    listRecords: async (zone, mostCalls) => provider.listRecords(zone, mostCalls),
    writeRecords: async (zone, fqdn, change) => provider.writeRecords(zone, fqdn, change),
    ...other,
  };
}
