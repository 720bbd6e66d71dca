import { arrayAt, isObject, type JSONObject, objectAt, textAt, valueAt } from "./json-object.ts";
import type { ResourceType } from "./resource-type.ts";
import type { Schema } from "./schema.ts";

/** The resources a CustomResourceDefinition makes the API serve: one per served version. */
export function customResourceTypes(crd: JSONObject): readonly ResourceType[] {
  const names = objectAt(crd, "spec", "names");
  const kind = textAt(names, "kind");
  return arrayAt(crd, "spec", "versions")
    .filter((version) => valueAt(version, "served") === true)
    .map((version) => ({
      group: textAt(crd, "spec", "group"),
      version: textAt(version, "name"),
      kind,
      plural: textAt(names, "plural"),
      singular: textAt(names, "singular") || kind.toLowerCase(),
      shortNames: arrayAt(names, "shortNames").filter((name) => typeof name === "string"),
      isNamespaced: textAt(crd, "spec", "scope") === "Namespaced",
      hasStatus: isObject(valueAt(version, "subresources", "status")),
      hasGeneration: true,
      allowsUnconditionalUpdate: false,
      createsOnUpdate: false,
      selectableFields: arrayAt(version, "selectableFields").map((field) =>
        textAt(field, "jsonPath").replace(/^\./, ""),
      ),
      // Checked by nobody: a definition is taken as its author wrote it.
      schema: objectAt(version, "schema", "openAPIV3Schema") as Schema,
    }));
}

/** The definition with the status a cluster gives it: names accepted, established, its stored version. */
export function establishedCRD(crd: JSONObject, now: string): JSONObject {
  const stored = arrayAt(crd, "spec", "versions").filter((version) => valueAt(version, "storage") === true);
  const condition = (type: string, reason: string, message: string): JSONObject => {
    return { type, status: "True", lastTransitionTime: now, reason, message };
  };
  return {
    ...crd,
    status: {
      acceptedNames: objectAt(crd, "spec", "names"),
      conditions: [
        condition("NamesAccepted", "NoConflicts", "no conflicts found"),
        condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
      ],
      storedVersions: stored.map((version) => textAt(version, "name")),
    },
  };
}
