import type { DNSProvider } from "../../src/ports/providers.ts";
import type { Clock } from "../../src/ports/system.ts";
import { CLOUDFLARE_DNS, DIGITALOCEAN_DNS, MemoryDNSAccount } from "../fake/memory-dns-account.ts";
import { MemoryDNSProvider } from "../fake/memory-dns-provider.ts";
import type { LoggedCall } from "./call-log.ts";
import type { DNSAccount } from "./dns-account.ts";
import { loggedMemoryDNSCall } from "./dns-call-log.ts";
import { dnsMemoryFault } from "./memory-fault.ts";
import type { OperationFault } from "./operation-fault.ts";
import type { PlannedFaults } from "./planned-faults.ts";
import { WorldDNS } from "./world-dns.ts";

/** Both DNS providers in memory. */
export interface MemoryDNS {
  readonly world: WorldDNS;
  readonly digitalocean: MemoryDNSAccount;
  readonly cloudflare: MemoryDNSAccount;
}

/** Empty accounts at both providers. */
export function memoryDNS(): MemoryDNS {
  const digitalocean = new MemoryDNSAccount(DIGITALOCEAN_DNS);
  const cloudflare = new MemoryDNSAccount(CLOUDFLARE_DNS);
  const world = new WorldDNS([digitalocean, cloudflare].map(accountOf));
  for (const account of [digitalocean, cloudflare]) {
    account.onChange = ({ by }) => {
      if (by === "provider") world.note(account.flavour.name, "flipop");
    };
  }
  return { world, digitalocean, cloudflare };
}

/** What the calls of one process depend on, beside the account. */
export interface MemoryDNSProcess {
  readonly clock: Clock;
  readonly faults: PlannedFaults;
  readonly calls: LoggedCall[];
  /** True when the process dies instead of making this write. */
  readonly diesAt: (operation: string) => boolean;
  /** The 429 that closed the provider for this process, and what closes it: addresses and domains of DigitalOcean share a limit. */
  readonly closed: () => OperationFault | undefined;
  readonly close: (fault: OperationFault) => void;
}

/** A provider as one process has it. */
export function memoryDNSProvider(account: MemoryDNSAccount, process: MemoryDNSProcess): DNSProvider {
  const { name } = account.flavour;
  const { clock, faults, calls } = process;
  const provider: MemoryDNSProvider = new MemoryDNSProvider({
    account,
    clock,
    around: async (call, effect) => {
      if (call.isWrite && process.diesAt(call.operation)) throw new Error("the process died");
      return await effect();
    },
    beforeCall: (operation, subject) => {
      const facts = { operation, subject, nowMs: clock.wallMs() };
      const closed = process.closed();
      if (closed !== undefined) return dnsMemoryFault(name, closed, facts);
      const call = provider.recorded.at(-1);
      if (call !== undefined) calls.push(loggedMemoryDNSCall(name, call));
      const fault = faults.take(operation, subject);
      if (fault?.kind === "429") process.close(fault);
      return fault === undefined ? undefined : dnsMemoryFault(name, fault, facts);
    },
  });
  return provider;
}

function accountOf(account: MemoryDNSAccount): DNSAccount {
  const zones = new Set<string>();
  return {
    name: account.flavour.name,
    addZone: (zone, options) => {
      zones.add(zone);
      return account.addZone(zone, options);
    },
    removeZone: (zone) => {
      zones.delete(zone);
      account.removeZone(zone);
    },
    addRecord: (zone, record) => account.addRecord(zone, record),
    removeRecords: (zone, fits) => account.removeRecords(zone, fits),
    makeAutomatic: (zone, fqdn) => account.setTTLAutomatic(zone, fqdn),
    records: () => [...zones].flatMap((zone) => account.records(zone).map((record) => ({ ...record, zone }))),
  };
}
