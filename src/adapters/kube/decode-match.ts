import type { MatchSpec } from "../../model/resource.ts";
import { decodeToleration } from "./decode-toleration.ts";
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
