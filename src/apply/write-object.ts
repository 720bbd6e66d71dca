import type { AnnotateNode, SetFinalizer } from "../model/action.ts";
import { KubeError } from "../model/errors.ts";
import { objectKey } from "../model/resource.ts";
import { type ApplyContext, applied, failed, obstacle, type Result, skipped } from "./context.ts";

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

/** Adds or removes flipop's finalizer. An object that is gone needs none. */
export async function setFinalizer(action: SetFinalizer, context: ApplyContext): Promise<Result> {
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  const journal = context.journals[action.object.kind];
  const result = await journal.setFinalizer(objectKey(action.object), action.kind === "add-finalizer");
  if (result === "set") return applied();
  return skipped("Stale", result === "gone" ? "the object is gone" : "its status changed meanwhile");
}
