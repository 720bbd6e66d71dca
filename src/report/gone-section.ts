import { ACTIONS } from "../model/action.ts";
import type { Plan } from "../model/plan.ts";
import { actionText, whyAction } from "./action-message.ts";
import { entryLines } from "./layout.ts";
import { objectText } from "./object-text.ts";
import { holdLines, type PlanLayout } from "./pool-section.ts";

/** Returns the lines about objects that no longer exist and left something behind, each section with an empty line at its end. */
export function goneSections(plan: Plan, layout: PlanLayout): string[] {
  const known = new Set(plan.pools.map(({ object }) => objectText(object)));
  const gone = [...plan.actions, ...plan.holds]
    .map(({ object }) => objectText(object))
    .filter((key) => !known.has(key));
  return [...new Set(gone)]
    .sort()
    .flatMap((key) => [
      `${layout.palette.strong(key)}: no longer exists, or is not selected`,
      ...plan.actions
        .filter(({ object }) => objectText(object) === key)
        .flatMap((action) =>
          entryLines(ACTIONS[action.kind].symbol, actionText(action), whyAction(action, undefined), layout),
        ),
      ...plan.holds
        .filter(({ object }) => objectText(object) === key)
        .flatMap((hold) => holdLines(hold, plan.observedAtMs, layout)),
      "",
    ]);
}
