import type { Action } from "../../model/action.ts";
import type { Hold, PoolAssessment } from "../../model/plan.ts";
import { compareText } from "../../model/resource.ts";
import type { Decision } from "../addresses/decide-pools.ts";
import type { ObjectFirewalls } from "../firewalls/plan-firewalls.ts";
import type { TargetName } from "../names/name-target.ts";
import type { ObjectNames } from "../names/plan-dns.ts";
import { blockedBy } from "./conditions.ts";
import { poolStatus } from "./pool-status.ts";

/** What the plan has for one object. */
export interface OwnPlan {
  readonly names: ObjectNames;
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
  /** Absent where the object has nothing to do with firewalls. */
  readonly firewall?: ObjectFirewalls;
}

/** What was found out about a pool, its status included. Pure. */
export function assessPool(
  { view, assignments }: Decision,
  { names, actions, holds, firewall }: OwnPlan,
  nowMs: number,
): PoolAssessment {
  const { target, drift } = names.present;
  const blocked = blockedBy(view);
  const graced = view.managed.flatMap(({ standing }) =>
    standing.kind === "placed" && standing.unready !== undefined ? [standing.on.nodeName] : [],
  );
  return {
    object: view.object,
    provider: view.pool.spec.provider,
    isSuspended: view.pool.spec.suspend,
    ...(target.kind === "none" || target.name === undefined ? {} : { dns: nameOf(target.name) }),
    ...(drift === undefined ? {} : { drift }),
    matching: [...new Set([...view.matches.map(({ name }) => name), ...graced])].toSorted(compareText),
    notMatching: view.notMatching.filter(({ nodeName }) => !graced.includes(nodeName)),
    waiting: assignments?.waiting ?? [],
    skipped: assignments?.skipped ?? [],
    desired: view.desired,
    ...(blocked === undefined ? {} : { blocked: blocked.reason }),
    status: poolStatus({
      view,
      assignments,
      holds,
      pendingActions: actions.length,
      pendingAddressActions: actions.filter(isAboutAddress),
      blocked,
      names,
      firewall,
      nowMs,
    }),
  };
}

/** True for what brings addresses to nodes, and takes them away. */
function isAboutAddress({ kind }: Action): boolean {
  return !kind.endsWith("-dns") && !kind.endsWith("-ports") && !kind.endsWith("-firewall");
}

function nameOf({ provider, fqdn }: TargetName): { readonly provider: string; readonly fqdn: string } {
  return { provider, fqdn };
}
