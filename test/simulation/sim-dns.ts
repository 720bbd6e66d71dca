import type { DNSProvider } from "../../src/ports/providers.ts";
import type { DNSAccount } from "../fake/dns-account.ts";
import { memoryDNSProvider } from "../fake/memory-dns-provider.ts";
import type { Process } from "./process.ts";

/** A provider of DNS as one process reaches it: every single request may be late, fail, or be its last. */
export function simDNS(process: Process, account: DNSAccount): DNSProvider {
  return memoryDNSProvider({
    account,
    clock: process.clock,
    mayWrite: () => process.lock?.isHeld() !== false,
    around: (call, effect) => process.call({ side: "dns", provider: account.name, ...call, args: [] }, effect),
  });
}
