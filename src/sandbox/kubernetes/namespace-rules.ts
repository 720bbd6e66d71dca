import { textAt } from "./json-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { type Change, type ObjectStore, storeKey } from "./object-store.ts";
import type { ResourceType } from "./resource-type.ts";
import { forbidden, StatusError } from "./status-error.ts";

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
