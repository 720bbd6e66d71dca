import { KubeError } from "../../model/errors.ts";
import { GROUP, shownText, VERSION } from "../../model/resource.ts";

/** One request to the API server, and what it means, for texts and repeats. */
export interface Call {
  readonly method: "GET" | "PATCH" | "PUT" | "POST";
  /** Path and query, escaped. */
  readonly path: string;
  /** As RBAC names it: `list`, `watch`, `get`, `patch`, `update`, `create`. */
  readonly verb: string;
  readonly resource: Resource;
  /** `status` when the call is about that part of the object. */
  readonly subresource?: "status";
  /** `NAMESPACE/NAME`, a node's name, or `""` for a whole list. */
  readonly subject: string;
  /** Sent as JSON: a merge patch for PATCH. */
  readonly body?: unknown;
  /** Encodings of the answer, as in the header of that name; JSON when absent. */
  readonly accept?: string;
}

/** A kind of object in the API: where it is served, and what people call it. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** For texts: `pool`. */
  readonly noun: string;
}

type ResourceName =
  | "pools"
  | "recordSets"
  | "routedIPs"
  | "issuers"
  | "namespaces"
  | "nodes"
  | "pods"
  | "services"
  | "endpointSlices"
  | "leases"
  | "events";

/** The resources flipop uses. */
export const RESOURCES: Readonly<Record<ResourceName, Resource>> = {
  pools: { group: GROUP, version: VERSION, plural: "floatingippools", noun: "pool" },
  recordSets: { group: GROUP, version: VERSION, plural: "nodednsrecordsets", noun: "record set" },
  routedIPs: { group: GROUP, version: VERSION, plural: "routedips", noun: "routed IP" },
  issuers: { group: GROUP, version: VERSION, plural: "routedipissuers", noun: "routed IP issuer" },
  namespaces: { group: "", version: "v1", plural: "namespaces", noun: "namespace" },
  nodes: { group: "", version: "v1", plural: "nodes", noun: "node" },
  pods: { group: "", version: "v1", plural: "pods", noun: "pod" },
  services: { group: "", version: "v1", plural: "services", noun: "Service" },
  endpointSlices: { group: "discovery.k8s.io", version: "v1", plural: "endpointslices", noun: "EndpointSlice" },
  leases: { group: "coordination.k8s.io", version: "v1", plural: "leases", noun: "Lease" },
  events: { group: "events.k8s.io", version: "v1", plural: "events", noun: "Event" },
};

/**
 * The path of a resource: of all its objects, those of a namespace, one object, or a part of it. Names are escaped.
 * @throws KubeError `invalid` with status 0 for a name that cannot stand in a path. URLs resolve `.` and `..`, escaped or not, so
 *   `namespaces/../pods` would mean the pods of every namespace; an empty name would mean the whole list.
 */
export function resourcePath(
  resource: Resource,
  place: { readonly namespace?: string; readonly name?: string; readonly subresource?: string } = {},
): string {
  const { namespace, name, subresource } = place;
  const root = resource.group === "" ? ["", "api", resource.version] : ["", "apis", resource.group, resource.version];
  const parts = [
    ...(namespace ? ["namespaces", namespace] : []),
    resource.plural,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  const wrong = parts.find((part) => UNUSABLE_SEGMENTS.includes(part) || !part.isWellFormed());
  if (wrong !== undefined) throw unusableName(resource, wrong);
  return [...root, ...parts.map(encodeURIComponent)].join("/");
}

const UNUSABLE_SEGMENTS: readonly string[] = ["", ".", ".."];

function unusableName({ plural, noun }: Resource, name: string): KubeError {
  const message = `Cannot ask for ${plural}: "${shownText(name)}" is not the name of a ${noun} or a namespace.`;
  return new KubeError({ failure: "invalid", operation: `get ${plural}`, subject: name, status: 0, message });
}

/** The resource as RBAC names it, with its group: `floatingippools.flipop.digitalocean.com/status`. */
export function qualifiedResource(call: Pick<Call, "resource" | "subresource">): string {
  const { group, plural } = call.resource;
  return `${plural}${group === "" ? "" : `.${group}`}${call.subresource === undefined ? "" : `/${call.subresource}`}`;
}
