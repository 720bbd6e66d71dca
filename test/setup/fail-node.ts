import { isMap, isSeq, parseAllDocuments, type YAMLMap } from "yaml";

/**
 * Returns a YAML file of nodes (documents, a list, or a List object) in which one node's Ready condition is False since the
 * time given, with everything else as it was, comments included.
 * @throws Error when the node or its condition is not there.
 */
export function failNode(text: string, name: string, at: Date): string {
  const documents = parseAllDocuments(text);
  const nodes = documents.flatMap((document) => nodesIn(document.contents));
  const node = nodes.find((candidate) => candidate.getIn(["metadata", "name"]) === name);
  const conditions = node?.getIn(["status", "conditions"]);
  const ready = isSeq(conditions)
    ? conditions.items.find((item) => isMap(item) && item.get("type") === "Ready")
    : undefined;
  if (!isMap(ready)) throw new Error(`there is no node ${name} with a Ready condition in the file`);
  ready.set("status", "False");
  ready.set("lastTransitionTime", at.toISOString().replace(/\.\d+Z$/, "Z"));
  return documents.map(String).join("");
}

function nodesIn(contents: unknown): readonly YAMLMap[] {
  const list = isMap(contents) ? contents.get("items") : contents;
  if (isSeq(list)) return list.items.filter((item) => isMap(item));
  return isMap(contents) ? [contents] : [];
}
