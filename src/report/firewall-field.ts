import type { FirewallMemory, PendingFirewall } from "../model/firewall.ts";
import type { JSONObject } from "./document.ts";

/** Returns what flipop added to one firewall for an object, as documents carry it. */
export function firewallField({ provider, id, name, ports, machineIDs }: FirewallMemory): JSONObject {
  return { provider, id, name, ports, machineIDs };
}

/** Returns a change of a firewall that is pending, as documents carry it. */
export function pendingFirewallField({ id, name, machineID, since }: PendingFirewall): JSONObject {
  return { id, name, machineID: machineID ?? null, since };
}
