import { readdirSync, readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { isObject, type JSONObject } from "./json-object.ts";
import { STANDARD_NAMESPACES } from "./namespace-rules.ts";

/** The directory of the CustomResourceDefinitions that the project ships. */
const CRDS = new URL("../../../cronjob/crds/", import.meta.url);

/** The namespaces of every cluster, as documents. */
export function standardNamespaces(): readonly JSONObject[] {
  return STANDARD_NAMESPACES.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
}

/** The CustomResourceDefinitions that the project ships, sorted by file name. Reads files. @throws Error when one is not YAML */
export function shippedCRDs(): readonly JSONObject[] {
  const files = readdirSync(CRDS).filter((file) => file.endsWith(".yaml"));
  return files.sort().flatMap((file) => readCRDs(readFileSync(new URL(file, CRDS), "utf8")));
}

function readCRDs(text: string): readonly JSONObject[] {
  const documents: unknown[] = [...parseAllDocuments(text)].map((document) => document.toJS());
  return documents.filter((value) => isObject(value)).filter((value) => value["kind"] === "CustomResourceDefinition");
}
