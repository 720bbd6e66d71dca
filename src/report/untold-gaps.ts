import type { Gap, Plan } from "../model/plan.ts";

/** Returns what could not be read and no hold of the plan tells. */
export function untoldGaps({ gaps, holds }: Plan): readonly Gap[] {
  const subjects = new Set(holds.map(({ subject }) => subject));
  const details = new Set(holds.map(({ detail }) => detail));
  return gaps.filter(
    ({ subject, error, putOff }) => putOff === undefined && !subjects.has(subject) && !details.has(error),
  );
}

/** Returns looks that were put off: of what could not be read they are what nothing stood in the way of. */
export function putOffGaps({ gaps }: Plan): readonly (Gap & Required<Pick<Gap, "putOff">>)[] {
  return gaps.flatMap((gap) => (gap.putOff === undefined ? [] : [{ ...gap, putOff: gap.putOff }]));
}

/** Returns how many names were put off, over all providers. */
export function putOffCount(plan: Plan): number {
  return putOffGaps(plan).reduce((sum, { putOff }) => sum + putOff.names, 0);
}
