import type { AssignIP } from "../../model/action.ts";
import type { LettingIn } from "../firewall/plan-firewalls.ts";
import type { PoolView } from "../pool-view.ts";
import type { ServedAddresses } from "./publisher.ts";
import { isUndecided, reachableAfter } from "./verified-addresses.ts";

/**
 * What a pool publishes: its addresses in use that are on a match and let in by its firewall, or will be after what this plan does. What could not be read, is on
 * its way, on a node in grace, or behind a firewall that stays closed, stays as it is. Pure.
 */
export function poolAddresses(view: PoolView, assignments: readonly AssignIP[], lettingIn: LettingIn): ServedAddresses {
  const serving = new Map<string, readonly string[]>();
  const undecided = new Set<string>();
  for (const { ip, standing } of view.managed) {
    if (!view.inUse.has(ip)) continue;
    const after = reachableAfter(view, standing, lettingIn);
    if (isUndecided(standing) || after === undefined) undecided.add(ip);
    else if (standing.kind === "placed") serving.set(ip, after);
  }
  for (const { id, ip } of assignments) serving.set(ip, [id]);
  return { serving, undecided };
}
