import { type ObjectRef, refKey } from "../model/action.ts";
import type { Plan, PoolAssessment } from "../model/plan.ts";

/**
 * Returns the pool by which a pass says why it did something. As it was planned first: that tells why a holder no longer matches. What has changed since, and the pass went by, is
 * as the pass left it: how many addresses it is to have, and why nodes do not match that did. Absent for a record set. Pure.
 */
export function toldPool(object: ObjectRef, plan: Pools, remaining: Pools): PoolAssessment | undefined {
  const [planned, left] = [plan, remaining].map(({ pools }) =>
    pools.find((pool) => refKey(pool.object) === refKey(object)),
  );
  if (planned === undefined || left === undefined) return planned ?? left;
  const known = new Set(planned.notMatching.map(({ nodeName }) => nodeName));
  const since = left.notMatching.filter(({ nodeName }) => !known.has(nodeName));
  return { ...planned, desired: left.desired, notMatching: [...planned.notMatching, ...since] };
}

type Pools = Pick<Plan, "pools">;
