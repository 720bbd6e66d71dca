import type { Hold, Plan } from "../model/plan.ts";

/** When a plan should be made again although nothing outside has changed. */
export interface NextLook {
  /** From now, milliseconds; 0 when it is due. */
  readonly inMs: number;
  /** What is waited for; absent when it is something left over that has no time of its own. */
  readonly hold?: Hold;
}

/**
 * When another pass can change something: the first end of a hold, or `openMs` from now while the provider is at work or actions are left. Undefined when only a change
 * from outside can. Pure.
 */
export function nextLook({ holds, actions }: Plan, nowMs: number, openMs: number): NextLook | undefined {
  const looks = holds.flatMap((hold): readonly NextLook[] => {
    const dueMs = hold.notBeforeMs ?? (isInProgress(hold) ? nowMs + openMs : undefined);
    return dueMs === undefined ? [] : [{ inMs: Math.max(0, dueMs - nowMs), hold }];
  });
  const left = actions.length > 0 ? [{ inMs: openMs }] : [];
  return [...looks, ...left].toSorted((a, b) => a.inMs - b.inMs)[0];
}

function isInProgress({ reason }: Hold): boolean {
  return reason === "InProgress" || reason === "AcquisitionUnanswered";
}
