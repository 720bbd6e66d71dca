import {
  arrayAt,
  type Change,
  compact,
  isObject,
  type JSONObject,
  type KubeObject,
  keyOf,
  type ObjectStore,
  objectAt,
  storeKey,
  textAt,
  timestamp,
  valueAt,
} from "./object-store.ts";
import type { ResourceType } from "./resource-types.ts";
import type { Cause } from "./schema.ts";
import { badRequest, forbidden, invalid, notFound, preconditionFailed, StatusError } from "./status-error.ts";

function required(field: string): Cause {
  return { reason: "FieldValueRequired", message: "Required value", field };
}

/** A cause for a value that must not be. */
export function invalidValue(field: string, value: unknown, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field };
}

/**
 * What is wrong with an object of a built-in resource, as far as flipop's own writes can go wrong; empty when nothing is.
 * `isNew` is false on updates. The rest of the built-in types is not validated. Pure.
 */
export function checkBuiltIn(type: ResourceType, object: JSONObject, isNew: boolean): readonly Cause[] {
  if (type.kind === "Lease") return checkLease(object);
  return type.kind === "Event" && isNew ? checkEvent(object) : [];
}

function checkLease(lease: JSONObject): readonly Cause[] {
  const [duration, transitions] = [
    valueAt(lease, "spec", "leaseDurationSeconds"),
    valueAt(lease, "spec", "leaseTransitions"),
  ];
  return [
    ...(typeof duration === "number" && duration <= 0
      ? [invalidValue("spec.leaseDurationSeconds", duration, "must be greater than 0")]
      : []),
    ...(typeof transitions === "number" && transitions < 0
      ? [invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]
      : []),
  ];
}

const NOTE_LIMIT = 1024;
const CONTROLLER = /^[^/]+\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$|^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

function checkEvent(event: JSONObject): readonly Cause[] {
  const type = textAt(event, "type");
  const controller = textAt(event, "reportingController");
  const missing = ["eventTime", "reportingController", "reportingInstance", "action", "reason"].filter(
    (field) => textAt(event, field) === "",
  );
  return [
    ...checkEventNamespace(event),
    ...missing.map(required),
    ...(controller === "" || CONTROLLER.test(controller)
      ? []
      : [invalidValue("reportingController", controller, "must be a label key")]),
    ...(type === "Normal" || type === "Warning" ? [] : [invalidValue("type", type, "must be Normal or Warning")]),
    ...(Buffer.byteLength(textAt(event, "note")) > NOTE_LIMIT
      ? [invalidValue("message", "", `can have at most ${NOTE_LIMIT} characters`)]
      : []),
  ];
}

/** An event about a cluster-scoped object lives in one of two namespaces; of other events nothing is asked. */
function checkEventNamespace(event: JSONObject): readonly Cause[] {
  const regarding = textAt(event, "regarding", "namespace");
  const own = textAt(event, "metadata", "namespace");
  if (regarding !== "" || own === "default" || own === "kube-system") return [];
  return [invalidValue("involvedObject.namespace", regarding, "does not match event.namespace")];
}

const MICRO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}(Z|[+-]\d{2}:\d{2})$/;
const MICRO_TIME_FIELDS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map<
  string,
  readonly (readonly string[])[]
>(
  Object.entries({
    Lease: [
      ["spec", "acquireTime"],
      ["spec", "renewTime"],
    ],
    Event: [["eventTime"], ["series", "lastObservedTime"]],
  }),
);

/**
 * The refusal of a time that is no MicroTime (exactly six decimals) or of a `spec` that is no object; undefined when there
 * is nothing to refuse.
 */
export function findUndecodable(type: ResourceType, object: JSONObject): StatusError | undefined {
  const prefix = `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
  for (const path of MICRO_TIME_FIELDS.get(type.kind) ?? []) {
    const time = valueAt(object, ...path) ?? null;
    if (time !== null && !(typeof time === "string" && MICRO_TIME.test(time)))
      return badRequest(`${prefix}: parsing time ${JSON.stringify(time)}: it needs six decimals`);
  }
  if (type.schema !== undefined) return undefined;
  const wrong = ["spec", "status"].find((part) => !isObject(object[part] ?? {}));
  return wrong === undefined ? undefined : badRequest(`${prefix}: ${wrong} is no object`);
}

/** Name of namespaces in the store. */
export const NAMESPACES = "/namespaces";

/** Namespaces that every cluster has. */
export const STANDARD_NAMESPACES: readonly string[] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Refuses to create an object in a namespace that is missing (404) or being deleted (403). @throws StatusError */
export function requireActiveNamespace(store: ObjectStore, type: ResourceType, namespace: string, name: string): void {
  const found = store.get(NAMESPACES, namespace);
  if (found === undefined) {
    const details = { name: namespace, kind: "namespaces" };
    throw new StatusError(404, "NotFound", `namespaces "${namespace}" not found`, details);
  }
  if (!isTerminating(found)) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  throw forbidden(type, name, why, [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }]);
}

function isTerminating(namespace: KubeObject): boolean {
  return namespace.metadata.deletionTimestamp !== undefined || textAt(namespace, "status", "phase") === "Terminating";
}

/** Does a controller's work: ends a namespace that is being deleted once nothing is left in it. */
export function endEmptyNamespace(store: ObjectStore, { type, object, resource }: Change): void {
  const namespace = object.metadata.namespace;
  if (type !== "DELETED" || namespace === undefined || resource === NAMESPACES) return;
  const found = store.get(NAMESPACES, namespace);
  if (found?.metadata.deletionTimestamp !== undefined && isEmpty(store, namespace)) store.remove(NAMESPACES, namespace);
}

const UNSCHEDULABLE = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const;

/**
 * Returns what does a controller's work when it is called: a node that was cordoned since gets the taint that says so, and one that was uncordoned loses it.
 * What else people do with that taint is theirs.
 * @param nowMs - the time of the API server, milliseconds
 */
export function taintingOfCordonedNodes(store: ObjectStore, nowMs: () => number): () => void {
  const isCordoned = (node: KubeObject | undefined): boolean => valueAt(node, "spec", "unschedulable") === true;
  const changed = new Set<string>();
  store.subscribe(({ type, resource, key, object, previous }) => {
    if (resource === "/nodes" && type === "MODIFIED" && isCordoned(object) !== isCordoned(previous)) changed.add(key);
  });
  return () => {
    for (const key of changed) {
      changed.delete(key);
      const node = store.get("/nodes", key);
      if (node === undefined) continue;
      const taints = arrayAt(node, "spec", "taints");
      const others = taints.filter((taint) => valueAt(taint, "key") !== UNSCHEDULABLE.key);
      if (isCordoned(node) === others.length < taints.length) continue;
      const added = isCordoned(node) ? [{ ...UNSCHEDULABLE, timeAdded: timestamp(nowMs()) }] : [];
      const spec = compact({ ...objectAt(node, "spec"), taints: nonEmpty([...others, ...added]) });
      store.put("/nodes", { ...node, spec });
    }
  };
}

/** Does a kubelet's work: a pod that somebody deleted ends at once where its node is ready. One that a person marks in a file, without a grace period, goes on terminating. */
export function endDeletedPods(store: ObjectStore): void {
  for (const pod of store.all("/pods")) {
    const { deletionGracePeriodSeconds, finalizers = [] } = pod.metadata;
    if (deletionGracePeriodSeconds === undefined || finalizers.length > 0) continue;
    const conditions = arrayAt(store.get("/nodes", textAt(pod, "spec", "nodeName")), "status", "conditions");
    const ready = conditions.find((condition) => valueAt(condition, "type") === "Ready");
    if (valueAt(ready, "status") === "True") store.remove("/pods", keyOf(pod.metadata));
  }
}

function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}

/** True when no object of any resource is in the namespace. */
export function isEmpty(store: ObjectStore, namespace: string): boolean {
  return store.resourceNames().every((resource) => contentOf(store, resource, namespace).length === 0);
}

/** The objects of a resource in a namespace. */
export function contentOf(store: ObjectStore, resource: string, namespace: string): readonly KubeObject[] {
  return store.all(resource).filter((object) => object.metadata.namespace === namespace);
}

/** The namespaced resources, by their names in the store. */
export function namespacedResources(types: readonly ResourceType[]): readonly string[] {
  return [...new Set(types.filter((type) => type.isNamespaced).map(storeKey))];
}

/** 404 for the object of a key. */
export function notFoundAt(type: ResourceType, key: string): StatusError {
  return notFound(type, key.split("/").at(-1) ?? key);
}

/** The refusal of a body of another kind: 400 for built-in resources, 422 for custom ones. */
export function wrongKind(type: ResourceType, name: string, kind: string): StatusError {
  const why = `must be ${type.kind}`;
  if (type.schema !== undefined) return invalid({ ...type, kind }, name, [invalidValue("kind", kind, why)]);
  return badRequest(`${kind} cannot be handled as a ${type.kind}`);
}

/** 422 for a patch of the uid. */
export function changedUID(type: ResourceType, name: string, uid: unknown): StatusError {
  return invalid(type, name, [invalidValue("metadata.uid", uid, "field is immutable")]);
}

/** Refuses a DELETE that is meant for another object or version. @throws StatusError 409 */
export function checkPreconditions(
  type: ResourceType,
  { metadata }: KubeObject,
  wanted: { readonly uid?: string; readonly resourceVersion?: string },
): void {
  const { uid = metadata.uid, resourceVersion = metadata.resourceVersion } = wanted;
  if (uid !== metadata.uid) {
    throw preconditionFailed(type, metadata.name, { what: "UID", wanted: uid, found: metadata.uid });
  }
  if (resourceVersion !== metadata.resourceVersion) {
    const versions = { wanted: resourceVersion, found: metadata.resourceVersion };
    throw preconditionFailed(type, metadata.name, { what: "ResourceVersion", ...versions });
  }
}
