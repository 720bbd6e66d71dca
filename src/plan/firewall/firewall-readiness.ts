import { REASONS } from "../../model/reason.ts";
import type { Readiness } from "../conditions.ts";
import type { PoolView } from "../pool-view.ts";
import { isLetIn } from "./firewall-target.ts";

/** Why an object is not ready for its firewall's sake; undefined when that is as it should be, or there is none. Pure. */
export function firewallReadiness(view: PoolView): Readiness | undefined {
  const { firewall: target, managed, inUse } = view;
  if (target.kind === "none") return undefined;
  if (target.kind === "blocked")
    return {
      isTrue: false,
      reason: target.reason,
      message: `${REASONS[target.reason].replace(/\.$/, "")}: ${target.detail}`,
    };
  const isOpen = managed.every(
    ({ ip, standing }) => standing.kind !== "placed" || !inUse.has(ip) || isLetIn(target, standing.on.machineID),
  );
  if (isOpen) return undefined;
  const message = `Firewall ${target.fact.firewall.name} does not let everything in yet.`;
  return { isTrue: false, reason: "FirewallPending", message };
}
