import type { NamePlan } from "./name-plan.ts";

/** True while a name's records wait a moment for nodes that are just changing: nothing that status tells of. Pure. */
export function isSettling({ holds }: Pick<NamePlan, "holds">): boolean {
  return holds.some(({ reason }) => reason === "Settling");
}
