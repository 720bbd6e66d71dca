import { canonicalJSON } from "./canonical-json.ts";
import { completeDocument } from "./complete-document.ts";
import type { JSONObject } from "./json-object.ts";
import type { KubernetesAPI } from "./kubernetes-api.ts";
import { storeKey } from "./object-store.ts";
import { byReadingOrder, definitionOf, documentOf, fileOfKind, type WorldFile } from "./world-documents.ts";
import { identity } from "./world-entry.ts";

/**
 * The documents of a file as they are written: by resource, then key, Events by time.
 *
 * @param preinstalled what every world has; left out unless it was changed.
 */
export function documentsOf(
  api: KubernetesAPI,
  facts: WorldFile,
  preinstalled: readonly JSONObject[],
): readonly JSONObject[] {
  const implied = new Map(preinstalled.map((document) => [identity(document), document]));
  const resources = new Set(api.types.all().map(storeKey));
  const objects = [...resources].flatMap((resource) => api.store.all(resource).toSorted(byReadingOrder));
  const here = objects.filter((object) => fileOfKind(object.apiVersion, object.kind) === facts.name);
  return here.map(documentOf).filter((document) => {
    const original = implied.get(identity(document));
    return original === undefined || !isSameDefinition(api, original, document);
  });
}

function isSameDefinition(api: KubernetesAPI, original: JSONObject, document: JSONObject): boolean {
  const complete = documentOf(completeDocument(api, original).object);
  return canonicalJSON(definitionOf(complete)) === canonicalJSON(definitionOf(document));
}
