import type { DNSProvider } from "../../src/ports/providers.ts";
import type { MemoryDNSAccount } from "../fake/memory-dns-account.ts";
import { MemoryDNSProvider } from "../fake/memory-dns-provider.ts";
import type { Process } from "./process.ts";

/** A provider of DNS as one process reaches it: every single request may be late, fail, or be its last. */
export function simDNS(process: Process, account: MemoryDNSAccount): DNSProvider {
  return new MemoryDNSProvider({
    account,
    clock: process.clock,
    around: (call, effect) => process.call({ side: "dns", provider: account.flavour.name, ...call, args: [] }, effect),
  });
}
