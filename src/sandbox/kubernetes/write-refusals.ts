import type { KubeObject } from "./kube-object.ts";
import type { ResourceType } from "./resource-type.ts";
import { badRequest, invalid, notFound, preconditionFailed, type StatusError } from "./status-error.ts";

/** 404 for the object of a key. */
export function notFoundAt(type: ResourceType, key: string): StatusError {
  return notFound(type, key.split("/").at(-1) ?? key);
}

/** The refusal of a body of another kind: 400 for built-in resources, 422 for custom ones. */
export function wrongKind(type: ResourceType, name: string, kind: string, apiVersion: string): StatusError {
  if (type.schema !== undefined) {
    const message = `Invalid value: ${JSON.stringify(kind)}: must be ${type.kind}`;
    return invalid({ ...type, kind }, name, [{ reason: "FieldValueInvalid", message, field: "kind" }]);
  }
  const version = apiVersion.split("/").at(-1);
  const group = type.group.split(".")[0] || "core";
  const why = `converting (${version}.${kind}) to (${group}.${type.kind}): unknown conversion`;
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${type.kind}: ${why}`);
}

/** 422 for a patch of the uid. */
export function changedUID(type: ResourceType, name: string, uid: unknown): StatusError {
  const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
  return invalid(type, name, [{ reason: "FieldValueInvalid", message, field: "metadata.uid" }]);
}

/** 400 for a merge patch that is no object. */
export function notAMergePatch(patch: unknown): StatusError {
  if (patch === undefined || patch === null) return badRequest("Invalid JSON Patch");
  const found = Array.isArray(patch) ? "array" : typeof patch;
  const why = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
  return badRequest(`error decoding patch: ${why}`);
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
