import type { NamePlan } from "./name-plan.ts";
import type { Publisher } from "./publisher.ts";

/** True while a name's records wait a moment for nodes that are just changing: nothing that status tells of. Pure. */
export function isSettling({ holds }: Pick<NamePlan, "holds">): boolean {
  return holds.some(({ reason }) => reason === "Settling");
}

/** True while an object's records wait a moment, whatever they should be. Pure. */
export function mustSettle({ settlesAtMs }: Pick<Publisher, "settlesAtMs">, nowMs: number): boolean {
  return settlesAtMs !== undefined && settlesAtMs > nowMs;
}
