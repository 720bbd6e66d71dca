import { type ObjectRef, refKey } from "../model/action.ts";
import type { Plan, PoolAssessment } from "../model/plan.ts";

/**
 * Returns the pool by which a pass says why it did something. As it was planned first: that tells why a holder no longer matches. How many addresses it is to have may have been
 * edited since, and the pass went by that. Absent for a record set. Pure.
 */
export function toldPool(object: ObjectRef, plan: Pools, remaining: Pools): PoolAssessment | undefined {
  const [planned, left] = [plan, remaining].map(({ pools }) =>
    pools.find((pool) => refKey(pool.object) === refKey(object)),
  );
  return planned === undefined || left === undefined ? (planned ?? left) : { ...planned, desired: left.desired };
}

type Pools = Pick<Plan, "pools">;
