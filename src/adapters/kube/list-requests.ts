import type { NodeFacts, PodFacts, PodSelector } from "../../model/node.ts";
import { RESOURCES, resourcePath } from "./call.ts";
import { decodeNode } from "./decode-node.ts";
import { decodePod } from "./decode-pod.ts";
import type { ListRequest } from "./list-objects.ts";
import { NODE_FIELDS, POD_FIELDS } from "./protobuf-fields.ts";

/** Finished pods run nothing and explain nothing; the server leaves them out. */
const UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed";

/** The list of all nodes. */
export const NODES_REQUEST: ListRequest<NodeFacts> = {
  resource: RESOURCES.nodes,
  path: resourcePath(RESOURCES.nodes),
  fields: NODE_FIELDS,
  project: decodeNode,
};

/** The list of a selector's pods that are bound to a node and not finished. Pure. */
export function podsRequest({ namespace, label }: PodSelector): ListRequest<PodFacts> {
  return {
    resource: RESOURCES.pods,
    path: resourcePath(RESOURCES.pods, { namespace }),
    query: { fieldSelector: UNFINISHED, ...(label === "" ? {} : { labelSelector: label }) },
    fields: POD_FIELDS,
    project: decodePod,
  };
}
