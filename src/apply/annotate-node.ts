import type { AnnotateNode } from "../model/action.ts";
import { KubeError } from "../model/errors.ts";
import { type ApplyContext, obstacle } from "./context.ts";
import { applied, failed, type Result, skipped } from "./result.ts";

/** Writes or removes our annotations of one node. A node that is gone needs none. */
export async function annotateNode({ nodeName, after }: AnnotateNode, context: ApplyContext): Promise<Result> {
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  try {
    await context.cluster.annotateNode(nodeName, { address: after.address ?? null, pool: after.pool ?? null });
    return applied();
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return error.failure === "not-found" ? skipped("Stale", "the node is gone") : failed(error);
  }
}
