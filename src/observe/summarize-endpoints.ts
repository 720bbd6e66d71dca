import type { PodSummary } from "../model/observation.ts";
import type { EndpointSliceFacts } from "../model/service.ts";

/** The endpoints of all slices of a Service, by node, as if they were pods. Pure. */
export function summarizeEndpoints(slices: readonly EndpointSliceFacts[]): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, PodSummary>();
  for (const { endpointsByNode } of slices)
    for (const [node, { ready, notReady }] of endpointsByNode) {
      const known = byNode.get(node);
      byNode.set(node, { ready: ready + (known?.ready ?? 0), notReady: notReady + (known?.notReady ?? 0) });
    }
  return byNode;
}
