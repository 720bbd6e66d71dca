import { isDeepStrictEqual } from "node:util";
import type { SetFinalizer } from "../model/action.ts";
import { KubeError } from "../model/errors.ts";
import { objectKey, type Pool } from "../model/resource.ts";
import { type ApplyContext, obstacle } from "./context.ts";
import { applied, type Result, skipped } from "./result.ts";

/**
 * Adds or removes flipop's finalizer. An object changed meanwhile is read again once; one that is gone needs none. One whose status is not what the pass
 * planned on is left alone: what would follow, a purchase say, was decided on another state.
 */
export async function setFinalizer(action: SetFinalizer, context: ApplyContext): Promise<Result> {
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  const pool = context.journal.pool(objectKey(action.object));
  if (pool === undefined) return skipped("Stale", "the object is gone");
  const isPresent = action.kind === "add-finalizer";
  try {
    context.journal.keep(await context.cluster.setPoolFinalizer(pool.meta, isPresent));
    return applied();
  } catch (error) {
    if (!(error instanceof KubeError) || (error.failure !== "conflict" && error.failure !== "not-found")) throw error;
    return await setAgain(pool, isPresent, context);
  }
}

async function setAgain(planned: Pool, isPresent: boolean, context: ApplyContext): Promise<Result> {
  const fresh = await context.cluster.readPool(planned.meta);
  if (fresh === undefined) return skipped("Stale", "the object is gone");
  if (!isDeepStrictEqual(fresh.status, planned.status)) return skipped("Stale", "its status changed meanwhile");
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  context.journal.keep(await context.cluster.setPoolFinalizer(fresh.meta, isPresent));
  return applied();
}
