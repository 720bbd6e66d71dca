import type { PoolAssessment } from "../model/plan.ts";

/** True for what the planner found out about a RoutedIP, which it treats as a pool of one address. */
export function isRouted({ object }: Pick<PoolAssessment, "object">): boolean {
  return object.kind === "routedip";
}
