import type { NodeFacts, PodFacts } from "../../../model/node.ts";
import { FINALIZER, type ObjectMeta } from "../../../model/resource.ts";
import type { StoreRules } from "./watched-store.ts";

type Versioned = { readonly resourceVersion: string };
type Issuer = { readonly meta: ObjectMeta };
type Custom = { readonly meta: ObjectMeta; readonly status: unknown };

/** A node's resourceVersion moves with every heartbeat; flipop writes two annotations. */
export const NODE_RULES: StoreRules<NodeFacts> = {
  visible: (node) => ({ ...node, resourceVersion: "" }),
  foreign: (node) => ({ ...node, resourceVersion: "", addressAnnotation: "", poolAnnotation: "" }),
};

/** flipop writes no pods. */
export const POD_RULES: StoreRules<PodFacts> = { visible: (pod) => pod, foreign: (pod) => pod };

/** flipop writes no Services and no EndpointSlices; only what it reads of them counts. */
export const VERSIONED_RULES: StoreRules<Versioned> = { visible: unversioned, foreign: unversioned };

/** flipop writes no issuers. */
export const ISSUER_RULES: StoreRules<Issuer> = { visible: withoutVersion, foreign: withoutVersion };

/** Of pools, record sets and routed IPs flipop writes their status, its finalizer and its annotation. */
export const CUSTOM_RULES: StoreRules<Custom> = {
  visible: withoutVersion,
  foreign: (object) => {
    const { note: _note, ...meta } = object.meta;
    const finalizers = meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
    return { ...object, meta: { ...meta, resourceVersion: "", finalizers }, status: undefined };
  },
};

function unversioned(facts: Versioned): unknown {
  return { ...facts, resourceVersion: "" };
}

function withoutVersion(object: Issuer): unknown {
  return { ...object, meta: { ...object.meta, resourceVersion: "" } };
}
