import { refKey } from "../model/action.ts";
import { announcedActions, type Plan } from "../model/plan.ts";
import { actionLines, holdLines, type PlanLayout } from "./plan-entry.ts";

/** Returns the lines about objects that no longer exist and left something behind, each section with an empty line at its end. */
export function goneSections(plan: Plan, layout: PlanLayout): string[] {
  const known = new Set([...plan.pools, ...plan.recordSets].map(({ object }) => refKey(object)));
  const actions = announcedActions(plan);
  const gone = [...actions, ...plan.holds].map(({ object }) => refKey(object)).filter((key) => !known.has(key));
  return [...new Set(gone)]
    .sort()
    .flatMap((key) => [
      `${layout.palette.strong(key)}: no longer exists, or is not selected`,
      ...actions
        .filter(({ object }) => refKey(object) === key)
        .flatMap((action) => actionLines(action, undefined, layout)),
      ...plan.holds
        .filter(({ object }) => refKey(object) === key)
        .flatMap((hold) => holdLines(hold, plan.observedAtMs, layout)),
      "",
    ]);
}
