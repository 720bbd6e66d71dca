import { sentence, withDetail } from "../../model/hold.ts";
import { REASONS } from "../../model/reason.ts";
import { isLetIn, unfinishedAt } from "../firewalls/firewall-target.ts";
import type { PoolView } from "../pool-view.ts";
import type { Readiness } from "./conditions.ts";

/**
 * Returns why an object is not ready for its firewall's sake; undefined when that is as it should be, or there is none. An object
 * becomes ready once the firewall is in force where it is served. Exception: one that is ready stays so while a change is pending
 * for less than five minutes, since others change the firewall, too. Pure.
 */
export function firewallReadiness(view: PoolView): Readiness | undefined {
  const { firewall: target, managed, inUse, pool } = view;
  if (target.kind === "none") return undefined;
  if (target.kind === "blocked") {
    const why = withDetail(REASONS[target.reason].text, target.detail);
    return { isTrue: false, reason: target.reason, message: sentence(`Firewall ${pool.firewall?.firewall}: ${why}`) };
  }
  const served = managed.flatMap(({ ip, standing }) =>
    standing.kind === "placed" && inUse.has(ip) ? [standing.on] : [],
  );
  const message = `Firewall ${target.fact.firewall.name} does not let everything in yet`;
  if (!served.every(({ machineID }) => isLetIn(target, machineID)))
    return { isTrue: false, reason: "FirewallPending", message: `${message}.` };
  const wasReady = pool.status.conditions.some(({ type, status }) => type === "Ready" && status === "True");
  const unfinished = served
    .flatMap((place) => unfinishedAt(target, place) ?? [])
    .find(({ needsPerson }) => needsPerson || !wasReady);
  if (unfinished === undefined) return undefined;
  return { isTrue: false, reason: "FirewallPending", message: `${message}: ${unfinished.detail}.` };
}
