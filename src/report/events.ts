import { type Action, type ObjectRef, refKey } from "../model/action.ts";
import { eventAction, STALL_ACTION } from "../model/change.ts";
import { capital } from "../model/hold.ts";
import type { Observation } from "../model/observation.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan, PoolAssessment } from "../model/plan.ts";
import type { Condition } from "../model/resource.ts";
import { messageOfAll, problemsIn } from "../model/stalled.ts";
import { plain } from "../model/text.ts";
import { whyAction } from "./text/actions.ts";
import { outcomeLine } from "./text/run.ts";
import { toldPool } from "./told-pool.ts";

/** An Event to write about an object: what came of one change, or that it waits for a person now. */
export interface EventFacts {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  /** The node that an address, an annotation or a purchase went to or left. Absent = none. */
  readonly nodeName?: string;
}

/** The Events and notices of one pass are made from this. */
export interface ToldPass {
  /** As the pass found the objects. */
  readonly seen: Observation;
  /** What it set out to do. */
  readonly planned: Plan;
  readonly outcomes: readonly Outcome[];
  /** What it left. */
  readonly remaining: Plan;
  /** Returns the conditions of an object as they are stored after the pass. What could not be written is told once it is. */
  readonly stored: (object: ObjectRef) => readonly Condition[];
}

/** Returns the Events of a pass, each with its object: what came of each change, in that order; then which objects wait for a person now. Pure. */
export function eventsOf({ seen, planned, outcomes, remaining, stored }: ToldPass): readonly ObjectEvent[] {
  const ofChanges = outcomes.flatMap((outcome) => {
    const { object } = outcome.action;
    const facts = eventOf(outcome, toldPool(object, planned, remaining));
    return facts === undefined ? [] : [{ object, ...facts }];
  });
  const ofStalls = newlyStalled({ seen, remaining, stored }).map(({ object, reason, message }): ObjectEvent => {
    return { object, type: "Warning", reason, action: STALL_ACTION, note: message };
  });
  return [...ofChanges, ...ofStalls];
}

/**
 * Returns the objects that wait for a person now and did not before the pass, or do for one more reason, each with the condition that is stored. One that waited already tells
 * what is new alone: a reason once, whatever else its text says from now on. Pure.
 */
export function newlyStalled({
  seen,
  remaining,
  stored,
}: Pick<ToldPass, "seen" | "remaining" | "stored">): readonly (Condition & { readonly object: ObjectRef })[] {
  const isStalled = ({ type, status }: Condition): boolean => type === "Stalled" && status === "True";
  const before = new Map([
    ...seen.pools.map(
      ({ kind, meta, status }) => [refKey({ kind, ...meta }), status.conditions.find(isStalled)] as const,
    ),
    ...seen.recordSets.map(
      ({ meta, status }) => [refKey({ kind: "dns", ...meta }), status.conditions.find(isStalled)] as const,
    ),
  ]);
  return [...remaining.pools, ...remaining.recordSets].flatMap(({ object }) => {
    const stalled = stored(object).find(isStalled);
    return stalled === undefined ? [] : newOf(stalled, before.get(refKey(object))).map((one) => ({ ...one, object }));
  });
}

/** What of a condition was not told before: all of it where there was none. */
function newOf(stalled: Condition, before: Condition | undefined): readonly Condition[] {
  if (before === undefined) return [stalled];
  const known = new Set(problemsIn(before).map(({ reason }) => reason));
  const news = problemsIn(stalled).filter(({ reason }) => !known.has(reason));
  return news.slice(0, 1).map(({ reason }) => ({ ...stalled, reason, message: messageOfAll(news) }));
}

/** An Event and the object it is about. */
export type ObjectEvent = EventFacts & { readonly object: ObjectRef };

/**
 * Returns the Event of one outcome: one per change made, accepted or refused; none for what was skipped. What was made, or asked for (`Asked to move …`), is told with its reason:
 * `Moved 203.0.113.1 from worker-1 to worker-5: worker-1 no longer matches (not ready), and worker-5 waits for an address.` Pure.
 * @param pool - as it was planned: it tells why a holder no longer matches. Absent for a record set
 */
export function eventOf(outcome: Outcome, pool: PoolAssessment | undefined): EventFacts | undefined {
  if (outcome.outcome === "skipped") return undefined;
  const { action } = outcome;
  const hasFailed = outcome.outcome === "failed";
  const nodeName = nodeOf(action);
  return {
    type: hasFailed ? "Warning" : "Normal",
    reason: hasFailed ? "Failed" : action.reason,
    action: eventAction(action.kind),
    note: plain(`${capital(outcomeLine(outcome))}: ${hasFailed ? outcome.error.message : whyAction(action, pool)}`),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}

function nodeOf(action: Action): string | undefined {
  switch (action.kind) {
    case "assign-ip":
    case "move-ip":
      return action.after.nodeName;
    case "acquire-ip":
      return "node" in action.after ? action.after.node.nodeName : undefined;
    case "unassign-ip":
    case "delete-ip":
      return action.before?.nodeName;
    case "annotate-node":
    case "clear-annotation":
      return action.nodeName;
    default:
      return undefined;
  }
}
