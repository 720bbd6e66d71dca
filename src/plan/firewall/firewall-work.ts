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

/** A port or a machine of one firewall, as a key. */
export function entryKey(firewallID: string, what: string): string {
  return `${firewallID} ${what}`;
}

/** Each port and machine of a memory, as {@link entryKey}. Pure. */
export function entriesOf({ id, ports, machineIDs }: FirewallMemory): readonly string[] {
  return [...ports, ...machineIDs].map((what) => entryKey(id, what));
}

/** What an object has on record at firewalls. Pure. */
export function storedMemory({ pool }: PoolView): readonly FirewallMemory[] {
  return pool.status.firewalls ?? [];
}
