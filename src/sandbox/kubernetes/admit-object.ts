import { checkBuiltIn, findUndecodable } from "./built-in-checks.ts";
import type { JSONObject } from "./json-object.ts";
import { objectAt, omit, textAt } from "./json-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { checkMetadata, findWrongMetadataType } from "./metadata-checks.ts";
import { prune } from "./prune.ts";
import { apiVersionOf, type ResourceType } from "./resource-type.ts";
import type { Schema } from "./schema.ts";
import { validate } from "./schema-validation.ts";
import { badRequest, type Cause, invalid } from "./status-error.ts";

/** How a write treats fields the schema does not know: the API's `fieldValidation` parameter; absent = `Warn`. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** An object that may be stored, and what the caller is warned of. */
export interface Admitted {
  readonly object: JSONObject;
  readonly warnings: readonly string[];
}

/**
 * The object as it would be stored: pruned, defaulted and valid. Pure.
 *
 * @param before the stored object on updates.
 * @throws StatusError 400 for what cannot be decoded, 422 with all causes for what is invalid.
 */
export function admitObject(
  type: ResourceType,
  object: JSONObject,
  options: {
    readonly before?: KubeObject;
    readonly fieldValidation?: FieldValidation;
    readonly subresource?: "status";
  },
): Admitted {
  const wrong = findWrongMetadataType(object["metadata"] ?? {});
  if (wrong !== undefined) throw badRequest(`${handledAs(type)}: ${wrong}`);
  const undecodable = findUndecodable(type, object);
  if (undecodable !== undefined) throw undecodable;
  const { value, unknownFields } = prunedBy(type, object);
  const unknown = unknownFields.map((field) => `unknown field "${field}"`);
  if (unknown.length > 0 && options.fieldValidation === "Strict") {
    throw badRequest(`${handledAs(type)}: strict decoding error: ${unknown.join(", ")}`);
  }
  const causes = [
    ...checkMetadata(objectAt(value, "metadata"), type),
    ...checkBuiltIn(type, value, options.before),
    ...(type.schema === undefined ? [] : validateBySchema(value, type.schema, options.subresource)),
  ];
  if (causes.length > 0) throw invalid(type, textAt(value, "metadata", "name"), causes);
  return { object: value, warnings: options.fieldValidation === "Ignore" ? [] : unknown };
}

/** Messages about a status that was sent to `/status` name its fields without `status.`. */
function validateBySchema(object: JSONObject, schema: Schema, subresource: "status" | undefined): readonly Cause[] {
  const body = omit(object, "apiVersion", "kind", "metadata");
  if (subresource === undefined) return validate(body, { ...schema, type: "object" }, "");
  const causes = validate(body["status"] ?? {}, schema.properties?.["status"] ?? {}, "");
  return causes.map((cause) => ({ ...cause, field: cause.field === "" ? "status" : `status.${cause.field}` }));
}

function handledAs(type: ResourceType): string {
  return `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
}

function prunedBy(type: ResourceType, object: JSONObject): { value: JSONObject; unknownFields: readonly string[] } {
  if (type.schema === undefined) return { value: object, unknownFields: [] };
  return prune(object, type.schema);
}

/** A stored object as it is served now: in the version asked for, pruned and defaulted by the schema of the moment. Pure. */
export function presentObject(type: ResourceType, object: KubeObject): KubeObject {
  const head = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: object.metadata };
  return { ...prunedBy(type, object).value, ...head };
}
