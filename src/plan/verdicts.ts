import type { NodeFacts } from "../model/node.ts";
import type { NodeVerdict } from "../model/plan.ts";
import { remembered } from "../model/remembered.ts";
import { compareText } from "../model/resource.ts";

/** Returns the names of nodes, once each, sorted: the same list for the same nodes. Pure. */
export const namesOf: (nodes: readonly NodeFacts[]) => readonly string[] = remembered((nodes) =>
  sortedNames(nodes.map(({ name }) => name)),
);

/** Returns names once each, sorted. Pure. */
export function sortedNames(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].toSorted(compareText);
}

/** Verdicts without nodes of some names; they go with both lists. */
const WITHOUT = new WeakMap<readonly NodeVerdict[], WeakMap<readonly string[], readonly NodeVerdict[]>>();

/** Returns verdicts without those of some nodes: the list itself where it has none of them, since there are thousands for each of thousands of objects. Pure. */
export function withoutNodes(verdicts: readonly NodeVerdict[], names: readonly string[]): readonly NodeVerdict[] {
  if (names.length === 0) return verdicts;
  const known = WITHOUT.get(verdicts) ?? new WeakMap<readonly string[], readonly NodeVerdict[]>();
  WITHOUT.set(verdicts, known);
  const before = known.get(names);
  if (before !== undefined) return before;
  const meant = new Set(names);
  const left = verdicts.some(({ nodeName }) => meant.has(nodeName))
    ? verdicts.filter(({ nodeName }) => !meant.has(nodeName))
    : verdicts;
  known.set(names, left);
  return left;
}
