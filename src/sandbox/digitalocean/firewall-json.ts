import type { APIObject } from "./api-json.ts";
import { type Caller, hasScope } from "./caller.ts";
import { ruleKey } from "./firewall-rules.ts";
import type { FirewallState, InboundState, OutboundState, TargetState } from "./firewall-state.ts";

/** `firewall` as a caller may see it: droplets and tags only with the scopes to read them; rules and addresses in an order of its own. */
export function firewallJSON(firewall: FirewallState, caller: Caller): APIObject {
  const { id, name, status = "succeeded", pending_changes: pending = [] } = firewall;
  const sees = hasScope(caller, "droplet:read");
  return {
    id,
    name,
    status: shownStatus(status, pending),
    inbound_rules: inOrder(firewall.inbound_rules).map((rule) => ({
      ...ruleJSON(rule),
      sources: targetJSON(rule.sources),
    })),
    outbound_rules: inOrder(firewall.outbound_rules).map((rule) => ({
      ...ruleJSON(rule),
      destinations: targetJSON(rule.destinations),
    })),
    created_at: "2026-01-01T00:00:00Z",
    droplet_ids: sees ? firewall.droplet_ids : [],
    tags: hasScope(caller, "tag:read") ? firewall.tags : [],
    pending_changes: pending.map(({ droplet_id, removing, status: state = "waiting" }) => ({
      ...(sees ? { droplet_id } : {}),
      removing,
      status: state,
    })),
  };
}

/** While a change is at work somewhere it is waiting; else it has failed as soon as one change has. */
function shownStatus(
  own: "succeeded" | "waiting" | "failed",
  pending: NonNullable<FirewallState["pending_changes"]>,
): string {
  if (pending.some(({ status }) => status !== "failed")) return "waiting";
  return pending.length > 0 && own === "succeeded" ? "failed" : own;
}

function ruleJSON({ protocol, ports, action }: InboundState | OutboundState): APIObject {
  return { protocol, ports, ...(action === undefined ? {} : { action }) };
}

function targetJSON({ addresses, ...others }: TargetState): APIObject {
  return { ...(addresses === undefined ? {} : { addresses: addresses.toSorted().reverse() }), ...others };
}

function inOrder<R extends InboundState | OutboundState>(rules: readonly R[]): readonly R[] {
  return rules.toSorted((a, b) => (ruleKey(a) < ruleKey(b) ? -1 : 1));
}
