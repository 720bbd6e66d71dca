import type { DNSProvider } from "../../src/ports/providers.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import {
  boundlessCloudflare,
  cloudflareDNSAccount,
  type DNSAccount,
  type DNSName,
  digitalOceanDNSAccount,
  memoryDNSAccount,
} from "../fake/dns-account.ts";
import { type MemoryDNSProvider, memoryDNSProvider } from "../fake/memory-dns-provider.ts";
import type { Life } from "./backend.ts";
import type { LoggedCall } from "./call-log.ts";
import { loggedMemoryDNSCall } from "./dns-call-log.ts";
import { dnsMemoryFault } from "./memory-fault.ts";
import type { OperationFault } from "./operation-fault.ts";
import type { PlannedFaults } from "./planned-faults.ts";
import { WorldDNS } from "./world-dns.ts";

/** The DNS providers in memory. */
export interface MemoryDNS {
  readonly world: WorldDNS;
  readonly digitalocean: DNSAccount;
  readonly cloudflare: DNSAccount;
  readonly hetzner: DNSAccount;
  readonly webhook: DNSAccount;
}

/** The domains of an emulated DigitalOcean, and beside it an empty Cloudflare, an empty project of Hetzner Cloud and an empty webhook. */
export function memoryDNS(account: DigitalOceanSandbox, now: () => number): MemoryDNS {
  const digitalocean = digitalOceanDNSAccount(account);
  const cloudflare = cloudflareDNSAccount(boundlessCloudflare({ now }));
  const hetzner = memoryDNSAccount("hetzner", now);
  const webhook = memoryDNSAccount("webhook", now);
  const world = new WorldDNS([digitalocean, cloudflare, hetzner, webhook]);
  return { world, digitalocean, cloudflare, hetzner, webhook };
}

/** What the calls of one process depend on, beside the account. */
export interface MemoryDNSProcess {
  readonly clock: Clock;
  readonly faults: PlannedFaults;
  readonly calls: LoggedCall[];
  /** The number of its cluster. */
  readonly cluster: number;
  readonly life: Life;
  /** The 429 that closed the provider for this process, and what closes it: addresses and domains of DigitalOcean share a limit. */
  readonly closed: () => OperationFault | undefined;
  readonly close: (fault: OperationFault) => void;
}

/** A provider as one process has it. */
export function processDNSProvider(dns: MemoryDNS, name: DNSName, process: MemoryDNSProcess): DNSProvider {
  const { clock, faults, calls } = process;
  const provider: MemoryDNSProvider = memoryDNSProvider({
    account: dns[name],
    clock,
    mayWrite: () => process.life.mayWrite(),
    afterWrite: () => dns.world.note(name, "flipop", process.cluster),
    around: async (call, effect) => {
      if (call.isWrite && process.life.diesAt(call.operation)) throw new Error("the process died");
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
