import { Document, visit } from "yaml";
import { escapedJSON } from "../model/text.ts";
import type { JSONObject } from "../report/json/document.ts";

/** Characters that YAML shows only escaped: control characters with line ends, direction marks, line separators. */
const STEERING = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** Returns a document as YAML, as long lines as it has. Texts with characters that steer whoever looks at them stand on one line, in quotes and escaped. Pure. */
export function yamlText(document: JSONObject): string {
  const yaml = new Document(JSON.parse(JSON.stringify(document)));
  visit(yaml, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && STEERING.test(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return escapedJSON(yaml.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}
