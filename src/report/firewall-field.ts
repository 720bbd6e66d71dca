import type { FirewallMemory } from "../model/firewall.ts";
import type { JSONObject } from "./document.ts";

/** Returns what flipop added to one firewall for an object, as documents carry it. */
export function firewallField({ provider, id, name, ports, machineIDs }: FirewallMemory): JSONObject {
  return { provider, id, name, ports, machineIDs };
}
