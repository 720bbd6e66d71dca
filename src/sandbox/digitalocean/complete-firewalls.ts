import type { CloudState } from "./cloud-state.ts";
import { keptRule } from "./firewall-rules.ts";
import type { FirewallState } from "./firewall-state.ts";

/** A firewall that a person wrote may have no id yet, and ports that YAML takes for numbers. */
type WrittenFirewall = Omit<FirewallState, "id"> & { readonly id?: string };

/**
 * Gives the firewalls of a state that have no id the next free ones, makes texts of their ports, and forgets droplets that are not
 * there any more. Changes the state.
 * @throws Error whose message begins with the path of the bad value
 */
export function completeFirewalls(state: CloudState): void {
  const written: readonly WrittenFirewall[] = state.firewalls;
  const ids = written.flatMap(({ id }) => id ?? []);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new Error(`firewalls must not have id ${twice} twice`);
  const isThere = (id: number): boolean => state.droplets.some((droplet) => droplet.id === id);
  const isLeft = (change: NonNullable<FirewallState["pending_changes"]>[number]): boolean =>
    isThere(change.droplet_id) || change.removing || change.completes_at === undefined;
  state.firewalls = written.map(({ id, name, pending_changes: pending, ...rest }) => {
    const left = (pending ?? []).filter((change) => isLeft(change));
    return {
      id: id ?? nextFirewallID(state, ids),
      name,
      ...rest,
      inbound_rules: rest.inbound_rules.map((rule) => keptRule({ ...rule, ports: String(rule.ports) })),
      outbound_rules: rest.outbound_rules.map((rule) => keptRule({ ...rule, ports: String(rule.ports) })),
      droplet_ids: rest.droplet_ids.filter(isThere),
      ...(left.length === 0 ? {} : { pending_changes: left }),
    };
  });
}

/** An id that no firewall has; each is given once. */
function nextFirewallID(state: CloudState, taken: readonly string[]): string {
  for (;;) {
    const id = `bb4b2611-3d72-467b-8602-${state.next.firewall_id.toString(16).padStart(12, "0")}`;
    state.next.firewall_id += 1;
    if (!taken.includes(id)) return id;
  }
}
