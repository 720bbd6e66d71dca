import { type ObjectRef, refKey } from "../model/action.ts";
import type { Plan, PoolAssessment } from "../model/plan.ts";
import { remembered } from "../model/remembered.ts";

/**
 * Returns the pool by which a pass says why it did something. As it was planned first: that tells why a holder no longer matches. What has changed since, and the pass went by, is
 * as the pass left it: how many addresses it is to have, and why nodes do not match that did. Absent for a record set. Pure.
 */
export function toldPool(object: ObjectRef, plan: Pools, remaining: Pools): PoolAssessment | undefined {
  const [planned, left] = [plan, remaining].map(({ pools }) => byObject(pools).get(refKey(object)));
  if (planned === undefined || left === undefined) return planned ?? left;
  const known = new Set(planned.notMatching.map(({ nodeName }) => nodeName));
  const since = left.notMatching.filter(({ nodeName }) => !known.has(nodeName));
  return { ...planned, desired: left.desired, notMatching: [...planned.notMatching, ...since] };
}

type Pools = Pick<Plan, "pools">;

/** The pools by their objects, found once for all that a pass tells. */
const byObject: (pools: Plan["pools"]) => ReadonlyMap<string, PoolAssessment> = remembered(
  (pools) => new Map(pools.map((pool) => [refKey(pool.object), pool])),
);
