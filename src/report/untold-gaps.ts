import type { Gap, Plan } from "../model/plan.ts";

/** Returns what could not be read and no hold of the plan tells. */
export function untoldGaps({ gaps, holds }: Plan): readonly Gap[] {
  const subjects = new Set(holds.map(({ subject }) => subject));
  const details = new Set(holds.map(({ detail }) => detail));
  return gaps.filter(({ subject, error }) => !subjects.has(subject) && !details.has(error));
}
