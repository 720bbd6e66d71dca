import type { NodeFacts, PodFacts, PodSelector } from "../../model/node.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../../model/service.ts";
import { RESOURCES, resourcePath } from "./call.ts";
import { decodeEndpointSlice, SERVICE_NAME_LABEL } from "./decode-endpoint-slice.ts";
import { decodeNode } from "./decode-node.ts";
import { decodePod } from "./decode-pod.ts";
import { decodeService } from "./decode-service.ts";
import type { ListRequest } from "./list-objects.ts";
import { ENDPOINT_SLICE_FIELDS, NODE_FIELDS, POD_FIELDS, SERVICE_FIELDS } from "./protobuf-fields.ts";

/** Where a Service is. */
export type ServicePlace = Pick<ServiceFacts, "namespace" | "name">;

/** Finished pods run nothing and explain nothing; the server leaves them out. */
const UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed";

/** The list of all nodes. */
export const NODES_REQUEST: ListRequest<NodeFacts> = {
  resource: RESOURCES.nodes,
  path: resourcePath(RESOURCES.nodes),
  fields: NODE_FIELDS,
  project: decodeNode,
  // Every five minutes each node reports that all is as it was.
  atVersion: (node, resourceVersion) => ({ ...node, resourceVersion }),
};

/** The list of all Services. */
export const SERVICES_REQUEST: ListRequest<ServiceFacts> = {
  resource: RESOURCES.services,
  path: resourcePath(RESOURCES.services),
  fields: SERVICE_FIELDS,
  project: decodeService,
};

/** The list of a selector's pods that are bound to a node (or to this one) and not finished. Pure. */
export function podsRequest({ namespace, label }: PodSelector, nodeName?: string): ListRequest<PodFacts> {
  const fieldSelector = nodeName === undefined ? UNFINISHED : `${UNFINISHED},spec.nodeName=${nodeName}`;
  return {
    resource: RESOURCES.pods,
    path: resourcePath(RESOURCES.pods, { namespace }),
    query: { fieldSelector, ...(label === "" ? {} : { labelSelector: label }) },
    fields: POD_FIELDS,
    project: decodePod,
  };
}

/** The list of the EndpointSlices of a Service, by the name that an existing Service has. Pure. */
export function endpointSlicesRequest({ namespace, name }: ServicePlace): ListRequest<EndpointSliceFacts> {
  return {
    resource: RESOURCES.endpointSlices,
    path: resourcePath(RESOURCES.endpointSlices, { namespace }),
    query: { labelSelector: `${SERVICE_NAME_LABEL}=${name}` },
    fields: ENDPOINT_SLICE_FIELDS,
    project: decodeEndpointSlice,
  };
}
