import { type ObjectRef, refKey } from "../model/action.ts";
import { parseLabelSelector, selects } from "../model/label-selector.ts";
import type { ObjectMeta } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";

/** True when the run may write for this object. A label selector that cannot be parsed selects nothing. */
export function isSelected(selection: Selection, kind: ObjectRef["kind"], meta: ObjectMeta): boolean {
  if (!isNamespaceInScope(selection, meta.namespace)) return false;
  if (selection.objects !== undefined && !selection.objects.includes(refKey({ kind, ...meta }))) return false;
  if (selection.labelSelector === undefined) return true;
  const parsed = parseLabelSelector(selection.labelSelector);
  return "selector" in parsed && selects(parsed.selector, meta.labels);
}

/** True when the run may clear what a deleted object of this namespace left: only when it is not narrowed to certain objects. */
export function isNamespaceSelected(selection: Selection, namespace: string): boolean {
  const isNarrowed = selection.objects !== undefined || selection.labelSelector !== undefined;
  return !isNarrowed && isNamespaceInScope(selection, namespace);
}

function isNamespaceInScope(selection: Selection, namespace: string): boolean {
  return selection.namespace === undefined || selection.namespace === namespace;
}
