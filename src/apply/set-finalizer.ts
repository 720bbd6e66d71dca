import type { SetFinalizer } from "../model/action.ts";
import { objectKey } from "../model/resource.ts";
import { type ApplyContext, obstacle } from "./context.ts";
import { applied, type Result, skipped } from "./result.ts";

/** Adds or removes flipop's finalizer. An object that is gone needs none. */
export async function setFinalizer(action: SetFinalizer, context: ApplyContext): Promise<Result> {
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  const journal = context.journals[action.object.kind];
  const result = await journal.setFinalizer(objectKey(action.object), action.kind === "add-finalizer");
  if (result === "set") return applied();
  return skipped("Stale", result === "gone" ? "the object is gone" : "its status changed meanwhile");
}
