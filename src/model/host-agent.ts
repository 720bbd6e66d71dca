import { readHostAddresses } from "./host-address.ts";
import type { NodeFacts, PodFacts, PodSelector } from "./node.ts";

/*
 * What is known of `flipop host` on a node. Its pod is ready while its host has every address that the annotation of its node asks for, so the pod tells what no provider
 * can: whether an address that is active answers. Kubernetes asks a pod every ten seconds and believes the third "no": the pod is up to half a minute behind its host.
 *
 * A pod that is missing or not ready takes nothing away: addresses stay on a host when the pod ends. So an address stays published, and people are told.
 */

/** The pods of `flipop host`, in whatever namespace they are installed. */
export const HOST_PODS: PodSelector = {
  namespace: "",
  label: "app.kubernetes.io/name=flipop,app.kubernetes.io/component=host",
};

/** How `flipop host` is on one node. */
export interface HostAgent {
  /** `unknown`: its pods cannot be read, or the one of this node cannot be understood. */
  readonly kind: "ready" | "missing" | "not-ready" | "unknown";
  /** Since when its pod is not ready, milliseconds; absent where nobody says. */
  readonly sinceMs?: number;
}

/** The pods of `flipop host`, by node; or why they could not be read. */
export type HostPods =
  | { readonly kind: "read"; readonly byNode: ReadonlyMap<string, readonly PodFacts[]> }
  | { readonly kind: "unread"; readonly error: string };

/** Returns the pods of a list by the node that they run on. Pure. */
export function hostPods(pods: readonly PodFacts[]): HostPods {
  return { kind: "read", byNode: Map.groupBy(pods, ({ nodeName }) => nodeName) };
}

/** What a node asks its host for. */
type AskingNode = Pick<NodeFacts, "hostAnnotation" | "ipv6">;

/** Returns the addresses that the annotations of a node ask its host for, of both families, sorted by text. Pure. */
export function askedOfHost({ hostAnnotation, ipv6 }: AskingNode): readonly string[] {
  return readHostAddresses([hostAnnotation, ipv6?.hostAnnotation].join(",")).ips;
}

/** Returns true where the annotations of a node ask its host for an address. Pure. */
export function asksItsHost(node: AskingNode): boolean {
  return askedOfHost(node).length > 0;
}

/** Returns how `flipop host` is on a node. While a pod is replaced, the ready one counts. Pure. */
export function hostAgentOn(nodeName: string, pods: HostPods): HostAgent {
  if (pods.kind === "unread") return { kind: "unknown" };
  const own = pods.byNode.get(nodeName) ?? [];
  if (own.some(({ ready, isUnreadable }) => ready.isReady && isUnreadable !== true)) return { kind: "ready" };
  if (own.some(({ isUnreadable }) => isUnreadable === true)) return { kind: "unknown" };
  if (own.length === 0) return { kind: "missing" };
  const since = own.flatMap(({ ready: { sinceMs } }) => sinceMs ?? []);
  return { kind: "not-ready", ...(since.length === 0 ? {} : { sinceMs: Math.min(...since) }) };
}

/** Returns how `flipop host` is on the node of an address; undefined where the node does not ask its host for the address. Pure. */
export function hostAgentOf(ip: string, node: NodeFacts | undefined, pods: HostPods): HostAgent | undefined {
  if (node === undefined || !askedOfHost(node).includes(ip)) return undefined;
  return hostAgentOn(node.name, pods);
}

/** True where it is known that no ready `flipop host` keeps the addresses of a node. Pure. */
export function isUnkept({ kind }: HostAgent): boolean {
  return kind === "missing" || kind === "not-ready";
}
