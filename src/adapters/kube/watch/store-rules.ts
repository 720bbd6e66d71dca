import type { NodeFacts, PodFacts } from "../../../model/node.ts";
import { FINALIZER, type ObjectMeta } from "../../../model/resource.ts";
import type { StoreRules } from "./watched-store.ts";

type Custom = { readonly meta: ObjectMeta; readonly status: unknown };

/** Nodes come sorted by name. Their resourceVersion moves with every heartbeat; flipop writes two annotations. */
export const NODE_RULES: StoreRules<NodeFacts> = {
  visible: (node) => ({ ...node, resourceVersion: "" }),
  foreign: (node) => ({ ...node, resourceVersion: "", addressAnnotation: "", poolAnnotation: "" }),
  isSorted: true,
};

/** Pods come in no order; flipop writes none. */
export const POD_RULES: StoreRules<PodFacts> = { visible: (pod) => pod, foreign: (pod) => pod, isSorted: false };

/** Pools and record sets come sorted by namespace and name; flipop writes their status and its finalizer. */
export const CUSTOM_RULES: StoreRules<Custom> = {
  visible: (object) => ({ ...object, meta: { ...object.meta, resourceVersion: "" } }),
  foreign: (object) => {
    const finalizers = object.meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
    return { ...object, meta: { ...object.meta, resourceVersion: "", finalizers }, status: undefined };
  },
  isSorted: true,
};
