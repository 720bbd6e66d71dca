import { contentHash } from "./content-hash.ts";
import type { NodeFacts } from "./node.ts";

/**
 * A hash of everything of a node that its verdict rests on: two readings with the same one are judged alike. Flipop's own annotations and what it does not look at
 * leave it as it is. Pure.
 */
export function nodeVersion({ name, providerID, labels, taints, ready, isDeleting }: NodeFacts): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return contentHash(JSON.stringify([name, providerID, sorted, taints, ready, isDeleting]));
}
