import type { MatchSpec, Toleration } from "../../model/resource.ts";
import type { SpecReader } from "./spec-reader.ts";

/** `spec.match` of an object; what is absent restricts nothing. */
export function decodeMatch(match: SpecReader): MatchSpec {
  return {
    nodeLabel: match.text("nodeLabel"),
    podNamespace: match.text("podNamespace"),
    podLabel: match.text("podLabel"),
    tolerations: match.objects("tolerations").map(decodeToleration),
  };
}

function decodeToleration(toleration: SpecReader): Toleration {
  const key = toleration.text("key");
  const operator = toleration.text("operator");
  const value = toleration.text("value");
  const effect = toleration.text("effect");
  const tolerationSeconds = toleration.signedNumber("tolerationSeconds");
  return {
    ...(key === "" ? {} : { key }),
    ...(operator === "" ? {} : { operator }),
    ...(value === "" ? {} : { value }),
    ...(effect === "" ? {} : { effect }),
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  };
}
