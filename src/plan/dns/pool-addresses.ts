import type { AssignIP } from "../../model/action.ts";
import type { PoolView } from "../pool-view.ts";
import type { ServedAddresses } from "./publisher.ts";
import { isReachable, isUndecided } from "./verified-addresses.ts";

/**
 * What a pool publishes: its addresses in use that are on a match, and those that an assignment of this plan brings to one. What could not be read, is on its
 * way, on a node in grace, or behind a firewall that is not open, stays as it is. Pure.
 */
export function poolAddresses(view: PoolView, assignments: readonly AssignIP[]): ServedAddresses {
  const serving = new Map<string, string | undefined>();
  const undecided = new Set<string>();
  for (const { ip, standing } of view.managed) {
    if (!view.inUse.has(ip)) continue;
    if (isUndecided(standing) || !isReachable(view, standing)) undecided.add(ip);
    else if (standing.kind === "placed") serving.set(ip, undefined);
  }
  for (const { id, ip } of assignments) serving.set(ip, id);
  return { serving, undecided };
}
