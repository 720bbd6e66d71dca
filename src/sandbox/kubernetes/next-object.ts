import { isDeepStrictEqual } from "node:util";
import { compact, type JSONObject, objectAt, omit } from "./json-object.ts";
import type { KubeObject } from "./kube-object.ts";
import type { ResourceType } from "./resource-type.ts";
import { type Cause, invalid } from "./status-error.ts";

/** Metadata that only the server writes; what a client sends there is ignored. */
const SERVER_FIELDS = [
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "selfLink",
  "managedFields",
] as const;

/** Metadata as a client may write it: without the server's fields and without empty maps and lists. */
export function clientMetadata(metadata: JSONObject): JSONObject {
  const own = omit(metadata, ...SERVER_FIELDS);
  return Object.fromEntries(Object.entries(own).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/**
 * What an update asks to store: the main endpoint leaves `status` as it is, `/status` leaves everything else, for resources
 * with that subresource; the server's own metadata stays. Pure.
 *
 * @throws StatusError 422 when a finalizer is added to an object that is being deleted.
 */
export function nextObject(
  type: ResourceType,
  before: KubeObject,
  body: JSONObject,
  subresource: "status" | undefined,
): JSONObject {
  const serverMetadata = Object.fromEntries(
    SERVER_FIELDS.filter((key) => before.metadata[key] !== undefined).map((key) => [key, before.metadata[key]]),
  );
  const { name, namespace } = before.metadata;
  const metadata = compact({ ...clientMetadata(objectAt(body, "metadata")), name, namespace, ...serverMetadata });
  const head = { apiVersion: body["apiVersion"], kind: body["kind"] };
  if (subresource === "status") {
    // Only built-in resources take labels and annotations with the status.
    const kept = type.schema === undefined ? metadata : before.metadata;
    return compact({ ...before, ...head, metadata: kept, status: body["status"] });
  }
  refuseNewFinalizers(type, before, metadata);
  const status = type.hasStatus ? before["status"] : body["status"];
  return compact({ ...body, ...head, metadata, status });
}

function refuseNewFinalizers(type: ResourceType, before: KubeObject, metadata: JSONObject): void {
  if (before.metadata.deletionTimestamp === undefined) return;
  const had = before.metadata.finalizers ?? [];
  const wanted = Array.isArray(metadata["finalizers"]) ? metadata["finalizers"] : [];
  const added = wanted.filter((finalizer) => !had.includes(finalizer));
  if (added.length === 0) return;
  const shown = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`;
  const cause: Cause = { reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field: "metadata.finalizers" };
  throw invalid(type, before.metadata.name, [cause]);
}

/** The object with its generation: one more than before when anything but metadata and status differs. Pure. */
export function withGeneration(type: ResourceType, before: JSONObject, object: JSONObject): JSONObject {
  if (!type.hasGeneration) return object;
  const generation = Number(objectAt(before, "metadata")["generation"] ?? 1);
  const desired = (value: JSONObject): JSONObject => omit(value, "apiVersion", "kind", "metadata", "status");
  const isSame = isDeepStrictEqual(desired(before), desired(object));
  return { ...object, metadata: { ...objectAt(object, "metadata"), generation: isSame ? generation : generation + 1 } };
}

/** True when both are the same object but for their resource versions and the version they are written in. Pure. */
export function isSameObject(a: JSONObject, b: JSONObject): boolean {
  const bare = (object: JSONObject): JSONObject => ({
    ...omit(object, "apiVersion"),
    metadata: omit(objectAt(object, "metadata"), "resourceVersion"),
  });
  return isDeepStrictEqual(bare(a), bare(b));
}
