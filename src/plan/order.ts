import { type Action, type ObjectRef, subjectOf } from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import type { Observation } from "../model/observation.ts";
import type { Hold } from "../model/plan.ts";
import { compareText, objectKey } from "../model/resource.ts";

/** What is said of objects: by namespace and name. */
export function byKey(a: { readonly object: ObjectRef }, b: { readonly object: ObjectRef }): number {
  return compareText(objectKey(a.object), objectKey(b.object));
}

/** Actions by object, phase and subject. Pure. */
export function sortedActions(actions: readonly Action[]): readonly Action[] {
  return inOrder(actions, subjectOf, (a, b, bySubject) => ACTIONS[a.kind].phase - ACTIONS[b.kind].phase || bySubject);
}

/** Holds by object, subject and kind. Pure. */
export function sortedHolds(holds: readonly Hold[]): readonly Hold[] {
  return inOrder(
    holds,
    ({ subject }) => subject,
    (a, b, bySubject) => bySubject || compareText(a.kind, b.kind),
  );
}

/** Sorts by namespace and name of the objects, a pool before the record set of the same name, then as `then` says. What there is to compare is found out once: there are thousands. */
function inOrder<T extends { readonly object: ObjectRef }>(
  all: readonly T[],
  subject: (one: T) => string,
  then: (a: T, b: T, bySubject: number) => number,
): readonly T[] {
  return all
    .map((one) => ({ one, key: objectKey(one.object), subject: subject(one) }))
    .toSorted(
      (a, b) =>
        compareText(a.key, b.key) ||
        compareText(b.one.object.kind, a.one.object.kind) ||
        then(a.one, b.one, compareText(a.subject, b.subject)),
    )
    .map(({ one }) => one);
}

/** Lists that were found to be sorted. */
const SORTED = new WeakSet<Observation["nodes"]>();

/** The nodes sorted by name. A list that is sorted is the result itself: what is known of it need not be found out again. Pure. */
export function nodesInOrder(nodes: Observation["nodes"]): Observation["nodes"] {
  if (SORTED.has(nodes)) return nodes;
  const isSorted = nodes.every(({ name }, place) => compareText(nodes[place - 1]?.name ?? "", name) <= 0);
  const sorted = isSorted ? nodes : nodes.toSorted((a, b) => compareText(a.name, b.name));
  SORTED.add(sorted);
  return sorted;
}
