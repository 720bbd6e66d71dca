import { createHash } from "node:crypto";
import { admitObject } from "./admission.ts";
import { type KubernetesAPI, type Origins, withNamespaceDefaults } from "./kubernetes-api.ts";
import {
  arrayAt,
  canonicalJSON,
  compact,
  type JSONObject,
  type KubeObject,
  objectAt,
  omit,
  storeKey,
  textAt,
  timestamp,
  valueAt,
} from "./object-store.ts";
import { CRD_RESOURCE, establishedCRD, type ResourceType } from "./resource-types.ts";
import { StatusError } from "./status-error.ts";

/** What is remembered of an object that a document may describe anew. */
export interface KnownObject {
  readonly uid: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
  /** {@link specHash} of the object as it was. */
  readonly specHash: string;
  /** Who owns which of its fields. */
  readonly managedFields?: readonly unknown[];
}

/** A short hash of everything that counts for the generation: all but metadata and status. */
export function specHash(object: JSONObject): string {
  return contentHash(omit(object, "apiVersion", "kind", "metadata", "status"));
}

/** A short hash of a value, the same whatever the order of its keys. */
export function contentHash(value: unknown): string {
  return createHash("sha256").update(canonicalJSON(value)).digest("hex").slice(0, 16);
}

/** What a stored object hands on to a document that takes its place. */
export function knownOf(object: KubeObject): KnownObject {
  const { uid, creationTimestamp, generation } = object.metadata;
  const managedFields = arrayAt(object, "metadata", "managedFields");
  const more = {
    ...(generation === undefined ? {} : { generation }),
    ...(managedFields.length === 0 ? {} : { managedFields }),
  };
  return { uid, creationTimestamp, ...more, specHash: specHash(object) };
}

/** A document as it is stored, `resourceVersion` aside. */
export interface CompleteDocument {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/**
 * Completes a whole object that a person or another controller wrote, status included: checked as the API would, the
 * server's metadata filled in where it is absent, the generation counted on when the spec differs from what is known.
 *
 * @throws StatusError naming the field that is wrong.
 */
export function completeDocument(api: KubernetesAPI, document: JSONObject, known?: KnownObject): CompleteDocument {
  const apiVersion = textAt(document, "apiVersion");
  const kind = textAt(document, "kind");
  const type = api.types.byKind(apiVersion, kind);
  if (type === undefined) {
    throw new StatusError(
      404,
      "NotFound",
      `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
    );
  }
  const object = withServerFields(type, document, known, api.origins);
  const { warnings } = admitObject(type, object, {});
  // A status may come from another version of the definition; a misspelt field elsewhere is a mistake.
  const misspelt = warnings.find((warning) => !/^unknown field "status[."]/.test(warning));
  if (misspelt !== undefined)
    throw new StatusError(400, "BadRequest", misspelt, { causes: [{ field: fieldOf(misspelt) }] });
  // Admission has seen to it that metadata is complete.
  return { type, object: object as KubeObject };
}

function fieldOf(warning: string): string {
  return /"(.*)"/.exec(warning)?.[1] ?? "";
}

function withServerFields(
  type: ResourceType,
  document: JSONObject,
  known: KnownObject | undefined,
  origins: Origins,
): JSONObject {
  const given = objectAt(document, "metadata");
  const metadata = compact({
    ...omit(given, "namespace", "generation", "resourceVersion", "managedFields"),
    namespace: type.isNamespaced ? textAt(given, "namespace") || "default" : undefined,
    uid: textAt(given, "uid") || known?.uid || origins.newUID(),
    resourceVersion: "0",
    creationTimestamp: textAt(given, "creationTimestamp") || known?.creationTimestamp || timestamp(origins.now()),
    generation: type.hasGeneration ? generationOf(document, known) : undefined,
    managedFields: known?.managedFields,
  });
  const object = { ...document, metadata };
  if (type.kind === "Namespace") return withNamespaceDefaults(object);
  const isNewCRD = storeKey(type) === CRD_RESOURCE && object["status" as keyof typeof object] === undefined;
  return isNewCRD ? establishedCRD(object, String(metadata["creationTimestamp"])) : object;
}

/** An unknown object continues the count that its status speaks of, so that a copied file is not taken for an edited one. */
function generationOf(document: JSONObject, known: KnownObject | undefined): number {
  if (known?.generation !== undefined) return known.generation + (known.specHash === specHash(document) ? 0 : 1);
  const written = valueAt(document, "metadata", "generation") ?? valueAt(document, "status", "observedGeneration");
  return typeof written === "number" && written > 0 ? written : 1;
}

/**
 * Stores a whole object, status included, as a person with an editor, a kubelet or another controller would. Nothing is
 * written when it is already so.
 *
 * @returns the object as stored.
 * @throws StatusError naming the field that is wrong.
 */
export function writeDocument(api: KubernetesAPI, document: JSONObject): KubeObject {
  const type = api.types.byKind(textAt(document, "apiVersion"), textAt(document, "kind"));
  const metadata = objectAt(document, "metadata");
  const namespace = type?.isNamespaced === true ? textAt(metadata, "namespace") || "default" : "";
  const name = textAt(metadata, "name");
  const before = type && api.store.get(storeKey(type), namespace === "" ? name : `${namespace}/${name}`);
  const complete = completeDocument(api, document, before && knownOf(before));
  const bare = (object: KubeObject): JSONObject => ({ ...object, metadata: omit(object.metadata, "resourceVersion") });
  if (before !== undefined && canonicalJSON(bare(before)) === canonicalJSON(bare(complete.object))) return before;
  return api.store.put(storeKey(complete.type), complete.object);
}
