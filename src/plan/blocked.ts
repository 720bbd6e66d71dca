import type { Blocked } from "./conditions.ts";
import type { PoolView } from "./pool-view.ts";
import type { Validation } from "./validate.ts";

/** Why an object cannot be worked on, whatever its provider says; undefined for a valid one. A person has to act. */
export function blockedByValidation(validation: Validation): Blocked | undefined {
  if (validation.kind === "valid") return undefined;
  return { reason: validation.reason, message: validation.error, needsPerson: true };
}

/** Why nothing at all can be done for a pool in this pass; undefined when it can be worked on. */
export function blockedBy(view: PoolView): Blocked | undefined {
  const blocked = blockedByValidation(view.validation);
  if (blocked !== undefined) return blocked;
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
