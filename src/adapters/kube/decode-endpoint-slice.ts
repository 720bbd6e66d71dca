import type { PodSummary } from "../../model/observation.ts";
import { type EndpointSliceFacts, NO_NODE } from "../../model/service.ts";
import { decodeMeta } from "./decode-meta.ts";
import { asFlag, asList, asRecord, asText, isCutOff, isOdd, isPresent } from "./json-value.ts";

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

type Part = Readonly<Record<string, unknown>> | undefined;

function sumUp(slice: Part, name: string): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, PodSummary>();
  const endpoints = slice?.["endpoints"];
  if (isCutOff(slice) || (isPresent(endpoints) && !Array.isArray(endpoints)))
    byNode.set(NO_NODE, { ...NOTHING, unreadable: name });
  for (const endpoint of asList(endpoints)) {
    const entry = asRecord(endpoint);
    const nodeName = asText(entry?.["nodeName"]) ?? (isPlaceOdd(entry) ? NO_NODE : undefined);
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
function isPlaceOdd(entry: Part): boolean {
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
