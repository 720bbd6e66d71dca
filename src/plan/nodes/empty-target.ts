import type { NodeFacts } from "../../model/node.ts";
import { type MatchSpec, type ObjectMeta, objectKey, type Pool, shownText } from "../../model/resource.ts";
import type { NothingSelected } from "../holds.ts";
import type { Validation } from "../validate.ts";
import { isSelected } from "./match.ts";

/** An object that asks for nodes. */
interface Asking {
  readonly meta: Pick<ObjectMeta, "isDeleting">;
  readonly kind?: Pool["kind"];
  readonly spec: { readonly match: MatchSpec };
  readonly endpoints?: Pool["endpoints"];
}

/**
 * Returns what an object asks for and nobody has: its labels select no node at all, or its pods do not exist. Undefined while anything is selected, ready
 * or not. A wrong letter in a selector looks like this, and so does an application that was scaled to zero. Pure.
 */
export function emptyTarget(
  object: Asking,
  validation: Validation,
  nodes: readonly NodeFacts[],
): NothingSelected | undefined {
  if (validation.kind !== "valid" || object.meta.isDeleting) return undefined;
  const { matcher } = validation;
  const { nodeLabel } = object.spec.match;
  const mayBeSelected = (node: NodeFacts): boolean => node.unreadable !== undefined || isSelected(node, matcher);
  if (nodeLabel !== "" && !nodes.some(mayBeSelected))
    return { of: "nodes", what: `nodeLabel ${shownText(nodeLabel)} selects no node` };
  if (matcher.podsByNode === undefined || matcher.podsByNode.size > 0) return undefined;
  return { of: "pods", what: noPods(object) };
}

function noPods({ kind, spec, endpoints }: Asking): string {
  const { podLabel, podNamespace } = spec.match;
  if (endpoints !== undefined) return `Service ${shownText(objectKey(endpoints))} has no endpoints`;
  if (podLabel === "") return `no pod runs in namespace ${shownText(podNamespace)}`;
  const what = kind === "routedip" ? "the selector of its Service," : "podLabel";
  const where = podNamespace === "" ? "" : ` in namespace ${shownText(podNamespace)}`;
  return `${what} ${shownText(podLabel)}${kind === "routedip" ? "," : ""} selects no pod that runs${where}`;
}
