import { ProviderError } from "../model/errors.ts";
import type { DNSProvider, FirewallProvider, IPProvider } from "../ports/providers.ts";
import type { Clock } from "../ports/system.ts";

/** Until when each provider asked for no calls, by its name; monotonic milliseconds. */
export type Limits = Map<string, number>;

/**
 * The same provider, which also enters in `limits` until when it asked for no calls, whatever call was told so and whoever made it: such an answer concerns every later
 * run, even where the call itself did not matter.
 */
export function limitNoting(provider: IPProvider, limits: Limits, clock: Clock): IPProvider {
  const { name, pageSize } = provider;
  const noting = notingFor(name, limits, clock);
  return {
    name,
    pageSize,
    listPage: (page) => noting(provider.listPage(page)),
    getAddress: (ip) => noting(provider.getAddress(ip)),
    machineAddresses: (machineID) => noting(provider.machineAddresses(machineID)),
    addressLimit: () => noting(provider.addressLimit()),
    assign: (ip, machineID) => noting(provider.assign(ip, machineID)),
    unassign: (ip) => noting(provider.unassign(ip)),
    actionState: (action) => noting(provider.actionState(action)),
    create: (place) => noting(provider.create(place)),
    delete: (ip) => noting(provider.delete(ip)),
  };
}

/** As {@link limitNoting}, for a DNS provider. */
export function limitNotingDNS(provider: DNSProvider, limits: Limits, clock: Clock): DNSProvider {
  const { name, ttlRules, isBatched } = provider;
  const noting = notingFor(name, limits, clock);
  return {
    name,
    ttlRules,
    isBatched,
    findZone: (zone) => noting(provider.findZone(zone)),
    readRecords: (zone, fqdn, isAwaited) => noting(provider.readRecords(zone, fqdn, isAwaited)),
    listRecords: (zone, mostCalls, isAwaited) => noting(provider.listRecords(zone, mostCalls, isAwaited)),
    writeRecords: (zone, fqdn, change) => noting(provider.writeRecords(zone, fqdn, change)),
  };
}

/** As {@link limitNoting}, for a provider of firewalls. */
export function limitNotingFirewalls(provider: FirewallProvider, limits: Limits, clock: Clock): FirewallProvider {
  const { name, firewallLimits } = provider;
  const noting = notingFor(name, limits, clock);
  return {
    name,
    firewallLimits,
    listFirewalls: () => noting(provider.listFirewalls()),
    getFirewall: (id) => noting(provider.getFirewall(id)),
    machinesWithTag: (tag) => noting(provider.machinesWithTag(tag)),
    openPorts: (id, ports) => noting(provider.openPorts(id, ports)),
    closePorts: (id, ports) => noting(provider.closePorts(id, ports)),
    addMachines: (id, machineIDs) => noting(provider.addMachines(id, machineIDs)),
    removeMachines: (id, machineIDs) => noting(provider.removeMachines(id, machineIDs)),
  };
}

function notingFor(name: string, limits: Limits, clock: Clock): <T>(call: Promise<T>) => Promise<T> {
  return async (call) => {
    try {
      return await call;
    } catch (error) {
      if (error instanceof ProviderError && error.failure === "rate-limited" && error.notBeforeMs !== undefined) {
        const untilMs = clock.monotonicMs() + error.notBeforeMs - clock.wallMs();
        limits.set(name, Math.max(limits.get(name) ?? 0, untilMs));
      }
      throw error;
    }
  };
}
