import type { PodSummary } from "../../model/observation.ts";
import type { EndpointSliceFacts } from "../../model/service.ts";
import { decodeMeta } from "./decode-meta.ts";
import { asList, asRecord, asText } from "./json-value.ts";

/** Label of an EndpointSlice: the Service it belongs to (discovery.k8s.io/v1, verified 2026-08). */
export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/**
 * A `discovery.k8s.io/v1` EndpointSlice summed up by node, whatever family its addresses are of: a node that serves in one serves. Undefined for something without a
 * name. Never throws.
 */
export function decodeEndpointSlice(object: unknown): EndpointSliceFacts | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  return {
    namespace: meta.namespace,
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    serviceName: meta.labels[SERVICE_NAME_LABEL] ?? "",
    endpointsByNode: sumUp(asList(asRecord(object)?.["endpoints"])),
  };
}

function sumUp(endpoints: readonly unknown[]): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, PodSummary>();
  for (const endpoint of endpoints) {
    const entry = asRecord(endpoint);
    const nodeName = asText(entry?.["nodeName"]);
    if (nodeName === undefined) continue;
    const { ready, notReady } = byNode.get(nodeName) ?? { ready: 0, notReady: 0 };
    const counts = isReady(asRecord(entry?.["conditions"]))
      ? { ready: ready + 1, notReady }
      : { ready, notReady: notReady + 1 };
    byNode.set(nodeName, counts);
  }
  return byNode;
}

/** A Service that publishes addresses before they are ready has `ready: true` on terminating endpoints too. */
function isReady(conditions: Readonly<Record<string, unknown>> | undefined): boolean {
  return conditions?.["ready"] !== false && conditions?.["terminating"] !== true;
}
