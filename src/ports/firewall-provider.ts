import type { Firewall, FirewallLimits } from "../model/firewall.ts";
import type { PortRange } from "../model/port-range.ts";

/**
 * What flipop reads of a provider's cloud firewalls. Throws ProviderError on failure; own deadlines; an idempotent read is repeated at most once after a 5xx or a
 * broken connection; after a 429 all calls fail without a request until the provider's reset. Values are canonical.
 */
export interface FirewallProviderReader {
  /** The name used in `spec.provider` of an issuer: `digitalocean`. */
  readonly name: string;
  readonly firewallLimits: FirewallLimits;
  /** Every firewall of the account, sorted by id; one call per 200. */
  listFirewalls(): Promise<readonly Firewall[]>;
  /** One firewall; undefined when the provider does not know it (404). */
  getFirewall(id: string): Promise<Firewall | undefined>;
  /** Ids of the machines that have a tag, one call per 200; empty when there is no such tag. */
  machinesWithTag(tag: string): Promise<ReadonlySet<string>>;
}

/**
 * A provider whose firewalls may also be changed, only by calls that add or remove: what others put there stays. Nothing here is repeated by the adapter. Each is
 * one call, accepted when it resolves: `progressAt` of a later reading tells when a machine has it. ProviderError `not-found` when the firewall (or a machine) is gone.
 */
export interface FirewallProvider extends FirewallProviderReader {
  /** Lets everybody in (0.0.0.0/0 and ::/0) on these ports. */
  openPorts(id: string, ports: readonly PortRange[]): Promise<void>;
  /** Removes the rules that {@link openPorts} made for exactly these ports; rules that are not there are no error. */
  closePorts(id: string, ports: readonly PortRange[]): Promise<void>;
  addMachines(id: string, machineIDs: readonly string[]): Promise<void>;
  /** Machines that are not attached are no error. */
  removeMachines(id: string, machineIDs: readonly string[]): Promise<void>;
}
