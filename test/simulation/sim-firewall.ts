import { ProviderError } from "../../src/model/errors.ts";
import { portText } from "../../src/model/firewall.ts";
import type { FirewallProvider } from "../../src/ports/providers.ts";
import { MemoryFirewallProvider } from "../fake/memory-firewall-provider.ts";
import type { Process } from "./process.ts";

/** The account's firewalls as one process reaches them: every call may be late, fail, or be its last. */
export function simFirewall(process: Process): FirewallProvider {
  const { world } = process.simulation;
  // The account has its own clock.
  const clock = { ...process.clock, wallMs: (): number => world.nowMs() };
  const provider = new MemoryFirewallProvider({ cloud: world.cloud, clock });
  const through = <T>(
    operation: string,
    subject: string,
    args: readonly string[] | undefined,
    effect: () => Promise<T>,
  ): Promise<T> => {
    const isWrite = args !== undefined;
    const call = { side: "firewall", provider: "digitalocean", operation, subject, isWrite, args: args ?? [] } as const;
    return process.call(call, effect);
  };
  return {
    name: provider.name,
    firewallLimits: provider.firewallLimits,
    listFirewalls: () => through("firewalls", "", undefined, () => provider.listFirewalls()),
    getFirewall: (id) => through("firewall", id, undefined, () => provider.getFirewall(id)).catch(unlessMissing),
    machinesWithTag: (tag) => through("tagged", tag, undefined, () => provider.machinesWithTag(tag)),
    openPorts: (id, ports) => through("open-ports", id, ports.map(portText), () => provider.openPorts(id, ports)),
    closePorts: (id, ports) => through("close-ports", id, ports.map(portText), () => provider.closePorts(id, ports)),
    addMachines: (id, ids) => through("add-machines", id, ids, () => provider.addMachines(id, ids)),
    removeMachines: (id, ids) => through("remove-machines", id, ids, () => provider.removeMachines(id, ids)),
  };
}

/** A firewall that the provider says it does not know is an answer. */
function unlessMissing(error: unknown): undefined {
  if (error instanceof ProviderError && error.failure === "not-found") return undefined;
  throw error;
}
