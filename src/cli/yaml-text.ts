import { stringify } from "yaml";
import type { JSONObject } from "../report/document.ts";

/** Returns a document as YAML, as long lines as it has. Pure. */
export function yamlText(document: JSONObject): string {
  return stringify(JSON.parse(JSON.stringify(document)), { lineWidth: 0 });
}
