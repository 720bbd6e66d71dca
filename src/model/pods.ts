import { type PodFacts, podSelectorKey } from "./node.ts";
import type { PodSummary } from "./observation.ts";
import type { MatchSpec, Pool } from "./resource.ts";
import { type EndpointSliceFacts, endpointsKey, NO_NODE } from "./service.ts";
import { laterMs } from "./time.ts";

/** The part of an object that says which pods its nodes must run. */
interface AskingForPods {
  readonly spec: { readonly match: MatchSpec };
  readonly endpoints?: Pool["endpoints"];
}

/** Returns where the pods that an object asks for stand in the pods of an observation; undefined if it asks for none. */
export function podsKeyOf({ spec, endpoints }: AskingForPods): string | undefined {
  const { podLabel: label, podNamespace: namespace } = spec.match;
  if (endpoints !== undefined) return endpointsKey(endpoints);
  return namespace === "" && label === "" ? undefined : podSelectorKey({ namespace, label });
}

/** Sums pods up by node: how many can serve, and if none, when the last of them stopped, as far as they show it. Names one unreadable pod per node. Pure. */
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
  if (pod.isUnreadable) {
    const name = `pod ${pod.namespace}/${pod.name}`;
    // The first by name, so that the order of the pods does not matter.
    if (sum.unreadable === undefined || name < sum.unreadable) sum.unreadable = name;
    return;
  }
  if (canServe(pod)) {
    sum.ready += 1;
    if (sum.unreadySinceMs !== undefined) delete sum.unreadySinceMs;
    return;
  }
  sum.notReady += 1;
  if (sum.ready > 0) return;
  const sinceMs = laterMs(sum.unreadySinceMs, stoppedAtMs(pod));
  if (sinceMs !== undefined) sum.unreadySinceMs = sinceMs;
}

function canServe({ phase, ready, deletedAtMs }: PodFacts): boolean {
  return phase === "Running" && ready.isReady && deletedAtMs === undefined;
}

function stoppedAtMs({ ready, deletedAtMs }: PodFacts): number | undefined {
  const times = [deletedAtMs, ready.isReady ? undefined : ready.sinceMs].flatMap((ms) => ms ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The endpoints of all slices of a Service, by node, as if they were pods. Pure. */
export function summarizeEndpoints(slices: readonly EndpointSliceFacts[]): ReadonlyMap<string, PodSummary> {
  const byNode = new Map<string, PodSummary>();
  for (const { endpointsByNode } of slices)
    for (const [node, { ready, notReady, unreadable }] of endpointsByNode) {
      const known = byNode.get(node);
      // The first by name, so that the order of the slices does not matter.
      const [odd] = [unreadable, known?.unreadable].filter((name) => name !== undefined).toSorted();
      byNode.set(node, {
        ready: ready + (known?.ready ?? 0),
        notReady: notReady + (known?.notReady ?? 0),
        ...(odd === undefined ? {} : { unreadable: odd }),
      });
    }
  return byNode;
}

/** Sums up one node, for which these pods or endpoints were read: an unreadable one without a node may be on it. Undefined if there is none. Pure. */
export function summaryOn(byNode: ReadonlyMap<string, PodSummary>, nodeName: string): PodSummary | undefined {
  const own = byNode.get(nodeName);
  const unreadable = own?.unreadable ?? byNode.get(NO_NODE)?.unreadable;
  return unreadable === undefined ? own : { ready: 0, notReady: 0, ...own, unreadable };
}
