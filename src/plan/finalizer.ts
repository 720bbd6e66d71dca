import { type Action, actionID, type ObjectRef, type SetFinalizer, subjectOf } from "../model/action.ts";
import type { Hold } from "../model/plan.ts";
import { FINALIZER, type ObjectMeta, objectKey, type RetryStatus } from "../model/resource.ts";
import type { Outcome } from "../model/run.ts";
import { withDependents } from "./drop-actions.ts";
import { retryClassOf, retryDueMs, withoutRetries, withRetry } from "./retries.ts";

/** What `reclaimPolicy: Delete` has to do for an object, as far as the finalizer depends on it. */
export interface Cleaning {
  /** Something of the object's would have to be cleaned if it were deleted now. */
  readonly isNeeded: boolean;
  /** Something cannot be cleaned in this pass. */
  readonly isStuck: boolean;
  /** Ids of the actions that clean. */
  readonly after: readonly string[];
}

/** Nothing to clean. */
export const NOTHING_TO_CLEAN: Cleaning = { isNeeded: false, isStuck: false, after: [] };

/** Keeps the finalizer on an object only while something would have to be cleaned; on a deleted one until it is. Pure. */
export function finalizerStep(
  object: ObjectRef,
  meta: ObjectMeta,
  cleanings: readonly Cleaning[],
): readonly SetFinalizer[] {
  const isNeeded = cleanings.some((cleaning) => cleaning.isNeeded);
  const isStuck = cleanings.some((cleaning) => cleaning.isStuck);
  const isOurs = meta.finalizers.includes(FINALIZER);
  const common = { object, follows: [], before: undefined, after: undefined };
  if (isOurs && (meta.isDeleting ? !isStuck : !isNeeded)) {
    const requires = cleanings.flatMap(({ after }) => after);
    const id = actionID("remove-finalizer", object, objectKey(meta));
    return [{ ...common, kind: "remove-finalizer", id, reason: "NothingToReclaim", requires }];
  }
  if (!isOurs && isNeeded && !meta.isDeleting) {
    const id = actionID("add-finalizer", object, objectKey(meta));
    return [{ ...common, kind: "add-finalizer", id, reason: "ReclaimDelete", requires: [] }];
  }
  return [];
}

/** The retry subject of an object's finalizer. */
export const FINALIZER_SUBJECT = "finalizer";

/** The retries of an object with the outcomes of its finalizer writes entered; the same list when there are none. Pure. */
export function foldFinalizerRetries(
  retries: readonly RetryStatus[],
  outcomes: readonly Outcome[],
  nowMs: number,
): readonly RetryStatus[] {
  return outcomes.filter(isAboutFinalizer).reduce((list, outcome) => {
    if (outcome.outcome === "applied") return withoutRetries(list, [FINALIZER_SUBJECT]);
    if (outcome.outcome !== "failed") return list;
    const { error } = outcome;
    const failure = { subject: FINALIZER_SUBJECT, retryClass: retryClassOf(error), error: error.message };
    return withRetry(list, failure, nowMs);
  }, retries);
}

function isAboutFinalizer({ action }: Outcome): boolean {
  return action.kind === "add-finalizer" || action.kind === "remove-finalizer";
}

/** The actions of a plan without those that wait for a finalizer, and the holds that say so. */
interface WithoutRefused {
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
}

/**
 * Holds finalizer writes whose last attempt failed until they are due again. What would have to be cleaned one day is not made meanwhile: without the finalizer
 * nobody would clean it. Pure.
 *
 * @param retriesOf - the stored retries of an object
 */
export function withoutRefusedFinalizers(
  actions: readonly Action[],
  retriesOf: (object: ObjectRef) => readonly RetryStatus[],
  nowMs: number,
): WithoutRefused {
  const waiting = actions.filter(isFinalizer).flatMap((action) => {
    const retry = retriesOf(action.object).find(({ subject }) => subject === FINALIZER_SUBJECT);
    return retry === undefined || retryDueMs(retry, nowMs) <= nowMs ? [] : [{ action, retry }];
  });
  if (waiting.length === 0) return { actions, holds: [] };
  const dropped = withDependents(
    actions,
    waiting.map(({ action }) => action.id),
  );
  const holds = waiting.map(({ action, retry }): Hold => {
    const { kind, object } = action;
    const common = { kind, object, subject: subjectOf(action), reason: "Backoff", detail: retry.error } as const;
    return { ...common, notBeforeMs: retryDueMs(retry, nowMs), needsPerson: false };
  });
  return { actions: actions.filter(({ id }) => !dropped.has(id)), holds };
}

function isFinalizer(action: Action): action is SetFinalizer {
  return action.kind === "add-finalizer" || action.kind === "remove-finalizer";
}
