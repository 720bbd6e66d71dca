import type { FirewallMemory } from "../../model/firewall.ts";
import type { PoolView } from "../pool-view.ts";
import type { Extension } from "./extend-firewall.ts";
import type { FirewallNeeds, Sending } from "./firewall-needs.ts";

/** One object while the firewalls of all are planned: what sends its addresses, what it needs, and what is added for it. */
export interface FirewallWork {
  readonly view: PoolView;
  readonly sending: readonly Sending[];
  readonly needs: FirewallNeeds;
  readonly extension: Extension;
}

/** Each port and machine of a memory, with the firewall's id. Pure. */
export function entriesOf({ id, ports, machineIDs }: FirewallMemory): readonly string[] {
  return [...ports, ...machineIDs].map((what) => `${id} ${what}`);
}
