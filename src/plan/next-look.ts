import type { Hold, Plan } from "../model/plan.ts";
import { REASONS } from "../model/reason.ts";
import type { PassResult } from "../model/run.ts";

/** When a plan should be made again although nothing outside has changed. */
export interface NextLook {
  /** From now, milliseconds; 0 when it is due. */
  readonly inMs: number;
  /** What is waited for; absent when it is something left over that has no time of its own. */
  readonly hold?: Hold;
}

/** Waits that a plan does not know. */
interface LookWaits {
  /** After a pass that leaves actions, milliseconds. */
  readonly leftOverMs: number;
  /** Until something that is moving or could not be read may be read again, milliseconds; undefined when there is nothing of that kind. */
  readonly nextReadInMs: number | undefined;
  /** When a status that was refused or held back may be written, milliseconds of the API server's clock. Absent = nothing waits for that. */
  readonly nextStatusMs?: number | undefined;
}

/**
 * When another pass can change something: the first end of a hold, the first time at which nodes are judged otherwise, the next reading of what is moving or could
 * not be read, the next writing of a status, or the wait for actions that are left. Undefined when only a change from outside can. Pure.
 */
export function nextLook(plan: Plan, nowMs: number, waits: LookWaits): NextLook | undefined {
  const { leftOverMs, nextReadInMs, nextStatusMs } = waits;
  const { holds, actions, judgedUntilMs } = plan;
  const looks = holds.flatMap((hold): readonly NextLook[] => {
    const endMs = endOf(hold, plan);
    if (endMs !== undefined) return [{ inMs: Math.max(0, endMs - nowMs), hold }];
    const isAwaited = hold.notBeforeMs !== undefined || isInProgress(hold);
    return isAwaited && nextReadInMs !== undefined ? [{ inMs: nextReadInMs, hold }] : [];
  });
  // Nodes are judged as of when they were read: what ended since then is due.
  const judged = judgedUntilMs === undefined ? [] : [{ inMs: Math.max(0, judgedUntilMs - nowMs) }];
  const readings = nextReadInMs === undefined ? [] : [{ inMs: nextReadInMs }];
  const left = actions.length > 0 ? [{ inMs: leftOverMs }] : [];
  // A status that was due and is still not written waits for something else.
  const unwritten =
    nextStatusMs === undefined ? [] : [{ inMs: nextStatusMs > nowMs ? nextStatusMs - nowMs : leftOverMs }];
  return [...looks, ...judged, ...readings, ...unwritten, ...left].toSorted((a, b) => a.inMs - b.inMs)[0];
}

/** Returns how many passes in a row have achieved nothing, this one included. Pure. */
export function fruitless({ outcomes }: Pick<PassResult, "outcomes">, before: number): number {
  return outcomes.some(({ outcome }) => outcome === "applied") ? 0 : before + 1;
}

/** When the first hold ends for which this plan waits, milliseconds of the API server's clock. Undefined where none has such a time. Pure. */
export function firstEndMs(plan: Pick<Plan, "holds" | "observedAtMs">): number | undefined {
  const ends = plan.holds.flatMap((hold) => endOf(hold, plan) ?? []);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** When a hold ends by itself. A time that was over when the plan was made ended nothing: only a reading can. */
function endOf({ notBeforeMs }: Hold, { observedAtMs }: Pick<Plan, "observedAtMs">): number | undefined {
  return notBeforeMs !== undefined && notBeforeMs > observedAtMs ? notBeforeMs : undefined;
}

function isInProgress({ reason }: Hold): boolean {
  return REASONS[reason].wait === "reading";
}
