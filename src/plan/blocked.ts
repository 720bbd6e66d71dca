import type { Blocked } from "./conditions.ts";
import type { PoolView } from "./pool-view.ts";

/** Why nothing at all can be done for a pool in this pass; undefined when it can be worked on. */
export function blockedBy(view: PoolView): Blocked | undefined {
  if (view.validation.kind === "invalid") {
    return { reason: "InvalidSpec", message: view.validation.error, needsPerson: true };
  }
  if (view.provider !== undefined) return undefined;
  const { unusable } = view;
  if (unusable === undefined) {
    return {
      reason: "ProviderUnavailable",
      message: `provider "${view.pool.spec.provider}" was not read`,
      needsPerson: false,
    };
  }
  return { reason: unusable.reason, message: unusable.message, needsPerson: unusable.reason === "ProviderUnavailable" };
}
