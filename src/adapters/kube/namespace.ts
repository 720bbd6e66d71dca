import { type NamespaceGrants, parseGrants } from "../../model/grants.ts";
import { compareText } from "../../model/resource.ts";
import { RESOURCES, resourcePath } from "./call.ts";
import { asRecord, asTextMap } from "./json.ts";
import type { ListRequest } from "./lists.ts";
import { decodeMeta, metadataField } from "./metadata.ts";

/** The list of what all namespaces grant, sorted by name. Of a namespace only the metadata is read. */
export const NAMESPACES_REQUEST: ListRequest<NamespaceGrants> = {
  kind: "namespace",
  resource: RESOURCES.namespaces,
  path: resourcePath(RESOURCES.namespaces),
  fields: { 1: metadataField("annotations") },
  project: decodeNamespace,
  order: (a, b) => compareText(a.namespace, b.namespace),
  // flipop writes no namespaces; only what they grant counts.
  rules: { visible: (grants) => grants, foreign: (grants) => grants },
};

/** Returns what a `v1` Namespace grants. Undefined for something without a name. Never throws. */
export function decodeNamespace(object: unknown): NamespaceGrants | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  return parseGrants(meta.name, asTextMap(asRecord(asRecord(object)?.["metadata"])?.["annotations"]));
}
