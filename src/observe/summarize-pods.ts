import type { PodFacts } from "../model/node.ts";
import type { PodSummary } from "../model/observation.ts";

/** Sums pods up by node: how many can serve, and if none, when the last of them stopped, as far as they show it. Pure. */
export function summarizePods(pods: readonly PodFacts[]): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, PodSummary>();
  for (const pod of pods) byNode.set(pod.nodeName, add(byNode.get(pod.nodeName), pod));
  return byNode;
}

function add(summary: PodSummary | undefined, pod: PodFacts): PodSummary {
  const { ready, notReady, unreadySinceMs } = summary ?? { ready: 0, notReady: 0 };
  if (canServe(pod) || ready > 0)
    return { ready: ready + (canServe(pod) ? 1 : 0), notReady: notReady + (canServe(pod) ? 0 : 1) };
  const sinceMs = later(unreadySinceMs, stoppedAtMs(pod));
  return { ready, notReady: notReady + 1, ...(sinceMs === undefined ? {} : { unreadySinceMs: sinceMs }) };
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
