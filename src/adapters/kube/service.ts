import { isRequestRefusal } from "../../model/errors.ts";
import type { PodSummary } from "../../model/observation.ts";
import { compareText } from "../../model/resource.ts";
import { type EndpointSliceFacts, NO_NODE, type ServiceFacts, type ServicePort } from "../../model/service.ts";
import { optional, RESOURCES, resourcePath } from "./call.ts";
import {
  asFlag,
  asList,
  asNumber,
  asRecord,
  asText,
  asTextMap,
  asWholeTextMap,
  isCutOff,
  isOdd,
  isPresent,
} from "./json.ts";
import type { ListRequest } from "./lists.ts";
import { decodeMeta, metadataField } from "./metadata.ts";
import type { Fields } from "./protobuf.ts";
import type { StoreRules } from "./watch/watched-store.ts";

type Part = Readonly<Record<string, unknown>> | undefined;

/** Where a Service is. */
export type ServicePlace = Pick<ServiceFacts, "namespace" | "name">;

/** flipop writes no Services and no EndpointSlices; only what it reads of them counts. */
const RULES: StoreRules<ServiceFacts | EndpointSliceFacts> = {
  visible: (facts) => ({ ...facts, resourceVersion: "" }),
  foreign: (facts) => ({ ...facts, resourceVersion: "" }),
};

/** What is read of a Service. */
const SERVICE_FIELDS: Fields = {
  1: metadataField("namespace"),
  2: {
    name: "spec",
    kind: "message",
    fields: {
      1: {
        name: "ports",
        kind: "messages",
        fields: {
          2: { name: "protocol", kind: "text" },
          3: { name: "port", kind: "number" },
          5: { name: "nodePort", kind: "number" },
        },
      },
      2: { name: "selector", kind: "text-map" },
      4: { name: "type", kind: "text" },
    },
  },
};

/** The list of all Services, sorted by namespace and name. */
export const SERVICES_REQUEST: ListRequest<ServiceFacts> = {
  kind: "service",
  resource: RESOURCES.services,
  path: resourcePath(RESOURCES.services),
  fields: SERVICE_FIELDS,
  project: decodeService,
  order: (a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
  rules: RULES,
};

const MAX_PORT = 65_535;

/**
 * Returns what flipop needs of a `v1` Service, with the API's defaults. `unreadable` names the first part that cannot be read. Undefined for something without a name.
 * Never throws.
 */
export function decodeService(object: unknown): ServiceFacts | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const service = asRecord(object);
  const spec = asRecord(service?.["spec"]);
  const unreadable = isCutOff(service) || isOdd(service?.["spec"], asRecord) ? "spec" : oddServiceSpec(spec);
  return {
    namespace: meta.namespace,
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    type: asText(spec?.["type"]) ?? "ClusterIP",
    selector: asTextMap(spec?.["selector"]),
    ports: asList(spec?.["ports"]).flatMap((port) => decodePort(port) ?? []),
    ...optional("unreadable", unreadable),
  };
}

function oddServiceSpec(spec: Part): ServiceFacts["unreadable"] {
  if (isOdd(spec?.["type"], asText)) return "spec.type";
  if (isOdd(spec?.["selector"], asWholeTextMap)) return "spec.selector";
  const ports = spec?.["ports"];
  const isReadable =
    !isPresent(ports) || (Array.isArray(ports) && ports.every((port) => decodePort(port) !== undefined));
  return isReadable ? undefined : "spec.ports";
}

/** Returns a port; undefined for anything that is no port. A firewall would take 0 for all ports. */
function decodePort(value: unknown): ServicePort | undefined {
  const entry = asRecord(value);
  const port = asNumber(entry?.["port"]);
  const nodePort = asNumber(entry?.["nodePort"]) ?? 0;
  const isWhole = !isCutOff(entry) && !isOdd(entry?.["nodePort"], asNumber) && !isOdd(entry?.["protocol"], asText);
  if (!isWhole || port === undefined || port === 0 || !isPort(port) || !isPort(nodePort)) return undefined;
  return { protocol: asText(entry?.["protocol"]) ?? "TCP", port, nodePort };
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= MAX_PORT;
}

/** What is read of an EndpointSlice. */
const ENDPOINT_SLICE_FIELDS: Fields = {
  1: metadataField("namespace", "labels"),
  2: {
    name: "endpoints",
    kind: "messages",
    fields: {
      2: {
        name: "conditions",
        kind: "message",
        fields: { 1: { name: "ready", kind: "flag" }, 3: { name: "terminating", kind: "flag" } },
      },
      6: { name: "nodeName", kind: "text" },
    },
  },
};

/** The list of the EndpointSlices of a Service, by the name that an existing Service has, in no order. */
export function endpointSlicesRequest({ namespace, name }: ServicePlace): ListRequest<EndpointSliceFacts> {
  return {
    kind: "endpoint-slice",
    resource: RESOURCES.endpointSlices,
    path: resourcePath(RESOURCES.endpointSlices, { namespace }),
    query: { labelSelector: `${SERVICE_NAME_LABEL}=${name}` },
    fields: ENDPOINT_SLICE_FIELDS,
    project: decodeEndpointSlice,
    rules: RULES,
    isRefused: (error) => isRequestRefusal(error, true),
  };
}

/** Label of an EndpointSlice: the Service it belongs to (discovery.k8s.io/v1, verified 2026-08). */
export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/**
 * A `discovery.k8s.io/v1` EndpointSlice summed up by node, whatever family its addresses are of: a node that serves in one serves. Undefined for something without a
 * name. Never throws.
 */
export function decodeEndpointSlice(object: unknown): EndpointSliceFacts | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const { namespace, name, resourceVersion, labels } = meta;
  return {
    namespace,
    name,
    resourceVersion,
    serviceName: labels[SERVICE_NAME_LABEL] ?? "",
    endpointsByNode: sumUp(asRecord(object), `EndpointSlice ${namespace}/${name}`),
  };
}

function sumUp(slice: Part, name: string): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, PodSummary>();
  const endpoints = slice?.["endpoints"];
  if (isCutOff(slice) || (isPresent(endpoints) && !Array.isArray(endpoints)))
    byNode.set(NO_NODE, { ...NOTHING, unreadable: name });
  for (const endpoint of asList(endpoints)) {
    const entry = asRecord(endpoint);
    const nodeName = asText(entry?.["nodeName"]) ?? (isEndpointOdd(entry) ? NO_NODE : undefined);
    if (nodeName === undefined) continue;
    byNode.set(
      nodeName,
      withEndpoint(byNode.get(nodeName) ?? NOTHING, nodeName === NO_NODE ? "odd" : state(entry), name),
    );
  }
  return byNode;
}

const NOTHING: PodSummary = { ready: 0, notReady: 0 };

function withEndpoint(sum: PodSummary, endpoint: ReturnType<typeof state>, slice: string): PodSummary {
  if (endpoint === "odd") return { ...sum, unreadable: slice };
  return endpoint === "ready" ? { ...sum, ready: sum.ready + 1 } : { ...sum, notReady: sum.notReady + 1 };
}

/** True if an endpoint that shows no node may have one: its node name, or the entry itself, cannot be read. */
function isEndpointOdd(entry: Part): boolean {
  return entry === undefined || isCutOff(entry) || isOdd(entry["nodeName"], asText);
}

/** Says whether an endpoint serves; `odd` if its conditions cannot be read. A Service that publishes addresses early has `ready: true` on terminating endpoints, too. */
function state(entry: Part): "ready" | "not-ready" | "odd" {
  const conditions = asRecord(entry?.["conditions"]);
  const [ready, terminating] = [conditions?.["ready"], conditions?.["terminating"]];
  if (ready === false || terminating === true) return "not-ready";
  const isWhole = !isCutOff(entry) && !isOdd(entry?.["conditions"], asRecord);
  return isWhole && !isOdd(ready, asFlag) && !isOdd(terminating, asFlag) ? "ready" : "odd";
}
