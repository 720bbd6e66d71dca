import type { NodeFacts } from "../model/node.ts";
import type { NodeVerdict } from "../model/plan.ts";
import { compareText } from "../model/resource.ts";

/** The names of lists of nodes; they go with the list. Objects that ask alike have one list. */
const NAMES = new WeakMap<readonly NodeFacts[], readonly string[]>();

/** Returns the names of nodes, once each, sorted: the same list for the same nodes. Pure. */
export function namesOf(nodes: readonly NodeFacts[]): readonly string[] {
  const known = NAMES.get(nodes);
  if (known !== undefined) return known;
  const names = sortedNames(nodes.map(({ name }) => name));
  NAMES.set(nodes, names);
  return names;
}

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
