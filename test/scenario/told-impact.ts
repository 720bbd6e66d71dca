import { expect } from "vitest";
import { announcedActions, type Plan } from "../../src/model/plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";

/** Actions of these classes hurt somebody. */
const HARM: readonly (string | undefined)[] = ["relocation", "reduction", "takeover"];

/** A plan that hurts somebody says so, by each class and with something to say of it; one that hurts nobody has no such line. */
export function checkImpactTold(plan: Plan): void {
  const actions = announcedActions(plan);
  const classes = HARM.filter((one) => actions.some(({ impact }) => impact === one));
  const lines = renderPlan(plan, { palette: PLAIN, all: false, wide: false }).split("\n");
  const told = lines.flatMap((line) => /^Impact: (\w+)\. \S/.exec(line)?.[1] ?? []);
  expect(told.toSorted(), "a plan tells whom it hurts").toEqual(classes.toSorted());
  const isTouching = actions.some((action) => "unrecorded" in action || "otherMachines" in action);
  const touches = lines.includes("Impact: this touches what may be somebody else's:");
  expect(touches, "a plan tells what it touches of others").toBe(isTouching);
}
