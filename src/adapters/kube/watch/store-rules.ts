import type { NodeFacts, PodFacts } from "../../../model/node.ts";
import { FINALIZER, type ObjectMeta } from "../../../model/resource.ts";
import type { StoreRules } from "./watched-store.ts";

type Custom = { readonly meta: ObjectMeta; readonly status: unknown };

/** A node's resourceVersion moves with every heartbeat; flipop writes two annotations. */
export const NODE_RULES: StoreRules<NodeFacts> = {
  visible: (node) => ({ ...node, resourceVersion: "" }),
  foreign: (node) => ({ ...node, resourceVersion: "", addressAnnotation: "", poolAnnotation: "" }),
};

/** flipop writes no pods. */
export const POD_RULES: StoreRules<PodFacts> = { visible: (pod) => pod, foreign: (pod) => pod };

/** Of pools and record sets flipop writes their status, its finalizer and its annotation. */
export const CUSTOM_RULES: StoreRules<Custom> = {
  visible: (object) => ({ ...object, meta: { ...object.meta, resourceVersion: "" } }),
  foreign: (object) => {
    const { note: _note, ...meta } = object.meta;
    const finalizers = meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
    return { ...object, meta: { ...meta, resourceVersion: "", finalizers }, status: undefined };
  },
};
