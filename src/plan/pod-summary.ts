import type { PodFacts } from "../model/node.ts";
import type { PodSummary } from "../model/observation.ts";
import type { EndpointSliceFacts } from "../model/service.ts";

/** Sums pods up by node: how many can serve, and if none, when the last of them stopped, as far as they show it. Pure. */
export function summarizePods(pods: readonly PodFacts[]): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, Sum>();
  // There can be fifty thousand, and each pass sums them up: nothing is made for a pod.
  for (const pod of pods) {
    const known = byNode.get(pod.nodeName);
    const sum = known ?? { ready: 0, notReady: 0 };
    if (known === undefined) byNode.set(pod.nodeName, sum);
    add(sum, pod);
  }
  return byNode;
}

type Sum = { -readonly [K in keyof PodSummary]: PodSummary[K] };

function add(sum: Sum, pod: PodFacts): void {
  if (canServe(pod)) {
    sum.ready += 1;
    if (sum.unreadySinceMs !== undefined) delete sum.unreadySinceMs;
    return;
  }
  sum.notReady += 1;
  if (sum.ready > 0) return;
  const sinceMs = later(sum.unreadySinceMs, stoppedAtMs(pod));
  if (sinceMs !== undefined) sum.unreadySinceMs = sinceMs;
}

function canServe({ phase, ready, deletedAtMs }: PodFacts): boolean {
  return phase === "Running" && ready.isReady && deletedAtMs === undefined;
}

function stoppedAtMs({ ready, deletedAtMs }: PodFacts): number | undefined {
  const times = [deletedAtMs, ready.isReady ? undefined : ready.sinceMs].flatMap((ms) => ms ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.max(a, b);
}

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
