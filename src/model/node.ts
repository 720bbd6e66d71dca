/** One taint, with the time a NoExecute taint was added. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
  readonly timeAddedMs?: number;
}

/** The taint that Kubernetes puts on a node which is cordoned (well-known taint, verified 2026-08). */
export const CORDON_KEY = "node.kubernetes.io/unschedulable";

/** The `Ready` condition of a node or a pod. `sinceMs` is its last transition. */
export interface Readiness {
  readonly isReady: boolean;
  readonly sinceMs?: number;
}

/** What flipop's annotations of a node say of one family of addresses; absent where the node does not carry them. */
export interface NodeMarks {
  readonly addressAnnotation?: string;
  readonly poolAnnotation?: string;
  readonly hostAnnotation?: string;
}

/** A label as a node had it; without a value where it had none of that name. */
export interface RestingLabel {
  readonly name: string;
  readonly value?: string;
}

/** What took a restless node out of service again and again, and counts as if it were there until the node has rested from it, see `apply/restless.ts`. */
export interface Rest {
  /** True where the node counts as not ready. */
  readonly isUnready: boolean;
  /** Present where the node counts as one that is gone: it was, or was another machine. */
  readonly isGone?: true;
  /** Taints that count beside those that it has. */
  readonly taints: readonly Taint[];
  /** Labels that count in the place of those that it has: who asks for another value, or for none, does not get it. Absent = none. */
  readonly labels?: readonly RestingLabel[];
  /** When the first of that counts no longer, milliseconds of the API server's clock; absent while the node has all of it. */
  readonly untilMs?: number;
}

/** What flipop needs of a node; everything else is dropped as the list arrives. Its own marks are those of IPv4. */
export interface NodeFacts extends NodeMarks {
  readonly name: string;
  readonly resourceVersion: string;
  /** `""` when not set yet. */
  readonly providerID: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly ready: Readiness;
  readonly isDeleting: boolean;
  /** `status.addresses` of type ExternalIP and InternalIP, in order. */
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  /** The marks of IPv6; absent where it has none. */
  readonly ipv6?: NodeMarks;
  /** The first part that matters and cannot be read, such as `spec.taints`. Then nobody can tell whether the node matches. Absent if everything can be read. */
  readonly unreadable?: string;
  /** Present on a restless node that has to rest; where nodes have grace, only what excludes them counts. */
  readonly rest?: Rest;
}

/** What flipop needs of a pod. */
export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  readonly phase: string;
  readonly ready: Readiness;
  /** When the delete was asked for (`deletionTimestamp` − `deletionGracePeriodSeconds`); absent while it is not terminating. It is also absent if the time cannot be read: then `ready` is false. */
  readonly deletedAtMs?: number;
  /** Set if nobody can tell whether the pod serves. `nodeName` is `""` if the node cannot be read either. */
  readonly isUnreadable?: true;
}

/** A distinct pod selector, as pushed to the server; at least one of the two is not empty. */
export interface PodSelector {
  readonly namespace: string;
  readonly label: string;
}

/** Names a pod selector as a map key: `NAMESPACE|LABEL`. */
export function podSelectorKey(selector: PodSelector): string {
  return `${selector.namespace}|${selector.label}`;
}
