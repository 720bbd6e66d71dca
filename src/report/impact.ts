import type { Action, ObjectRef } from "../model/action.ts";
import type { Plan } from "../model/plan.ts";
import { actionText } from "./action-message.ts";
import { objectText } from "./object-text.ts";

/** One healthy thing that a plan would hurt. */
export interface Impact {
  readonly object: ObjectRef;
  readonly subject: string;
  readonly message: string;
}

/**
 * Returns what a plan takes away from something healthy, in plan order: an address from a node that still matches, or from a
 * machine outside the cluster that may be using it. Normally empty.
 */
export function impactOf(plan: Plan): readonly Impact[] {
  const matching = new Map(plan.pools.map((pool) => [objectText(pool.object), new Set(pool.matching)]));
  return plan.actions.flatMap((action) => {
    const message = hurt(action, matching.get(objectText(action.object)) ?? new Set());
    return message === undefined || !("ip" in action) ? [] : [{ object: action.object, subject: action.ip, message }];
  });
}

function hurt(action: Action, matching: ReadonlySet<string>): string | undefined {
  if (action.kind !== "move-ip" && action.kind !== "unassign-ip") return undefined;
  const { before } = action;
  if (before === undefined) return undefined;
  if (before.nodeName !== undefined && matching.has(before.nodeName)) {
    return `${actionText(action)}: ${before.nodeName} still matches and would lose it`;
  }
  return action.reason === "TakeOver" ? `${actionText(action)}: whatever uses it there would lose it` : undefined;
}
