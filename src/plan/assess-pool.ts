import type { Action } from "../model/action.ts";
import type { Hold, PoolAssessment } from "../model/plan.ts";
import { blockedBy } from "./blocked.ts";
import type { Decision } from "./decide-pools.ts";
import type { TargetName } from "./dns/name-target.ts";
import type { ObjectNames } from "./dns/plan-dns.ts";
import { compareText } from "./object-order.ts";
import { poolStatus } from "./pool-status.ts";

/** What the plan has for one object. */
export interface OwnPlan {
  readonly names: ObjectNames;
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
}

/** What was found out about a pool, its status included. Pure. */
export function assessPool(
  { view, assignments }: Decision,
  { names, actions, holds }: OwnPlan,
  nowMs: number,
): PoolAssessment {
  const { target, drift } = names.present;
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
    status: poolStatus({
      view,
      assignments,
      holds,
      pendingActions: actions.length,
      pendingAddressActions: actions.filter(({ kind }) => !kind.endsWith("-dns")).length,
      blocked: blockedBy(view),
      names,
      nowMs,
    }),
  };
}

function nameOf({ provider, fqdn }: TargetName): { readonly provider: string; readonly fqdn: string } {
  return { provider, fqdn };
}
