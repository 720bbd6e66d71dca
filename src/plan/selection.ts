import { type ObjectRef, refKey } from "../model/action.ts";
import { parseLabelSelector, selects } from "../model/label-selector.ts";
import type { ObjectMeta } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { isOfShard } from "../model/shard.ts";
import { shardOf } from "./shards.ts";

/**
 * True when the run may write for this object, as far as namespace, objects and labels say. A label selector that cannot be parsed selects nothing. What is of another
 * shard is another matter: that is not left as it is, somebody else works for it (shards.ts).
 */
export function isSelected(selection: Selection, kind: ObjectRef["kind"], meta: ObjectMeta): boolean {
  if (!isNamespaceInScope(selection, meta.namespace)) return false;
  if (selection.objects !== undefined && !selection.objects.includes(refKey({ kind, ...meta }))) return false;
  if (selection.labelSelector === undefined) return true;
  const parsed = parseLabelSelector(selection.labelSelector);
  return "selector" in parsed && selects(parsed.selector, meta.labels);
}

/** True for an object that a reader is asked about, its shard included. */
export function isAskedFor(selection: Selection, kind: ObjectRef["kind"], meta: ObjectMeta): boolean {
  const shard = shardOf(selection);
  return isSelected(selection, kind, meta) && (shard === undefined || isOfShard(meta, shard));
}

/** True when the run may clear what a deleted object of this namespace left: only when it is not narrowed to certain objects. */
export function isNamespaceSelected(selection: Selection, namespace: string): boolean {
  const isNarrowed = selection.objects !== undefined || selection.labelSelector !== undefined;
  return !isNarrowed && isNamespaceInScope(selection, namespace);
}

function isNamespaceInScope(selection: Selection, namespace: string): boolean {
  return selection.namespace === undefined || selection.namespace === namespace;
}
