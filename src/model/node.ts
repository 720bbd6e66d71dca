/** One taint, with the time a NoExecute taint was added. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
  readonly timeAddedMs?: number;
}

/** The `Ready` condition of a node or a pod. `sinceMs` is its last transition. */
export interface Readiness {
  readonly isReady: boolean;
  readonly sinceMs?: number;
}

/** What flipop needs of a node; everything else is dropped as the list arrives. */
export interface NodeFacts {
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
  /** Our two annotations; absent when the node does not carry them. */
  readonly addressAnnotation?: string;
  readonly poolAnnotation?: string;
  /** The first part that matters and cannot be read, such as `spec.taints`. Then nobody can tell whether the node matches. Absent if everything can be read. */
  readonly unreadable?: string;
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

/** Scheme of `spec.providerID` per IP provider (DigitalOcean's cloud controller manager, verified 2026-08). */
const SCHEMES: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({ digitalocean: "digitalocean://" }),
);

/**
 * The provider's own id of a node's machine: the decimal droplet id of `digitalocean://123`.
 * Undefined when the text is empty, of another cloud, or not a plain positive number.
 */
export function machineID(provider: string, providerID: string): string | undefined {
  const scheme = SCHEMES.get(provider);
  if (scheme === undefined || !providerID.startsWith(scheme)) return undefined;
  const id = providerID.slice(scheme.length);
  return /^[1-9]\d{0,18}$/.test(id) ? id : undefined;
}

/** The `spec.providerID` that names this machine at this provider. */
export function providerIDOf(provider: string, id: string): string {
  return `${SCHEMES.get(provider) ?? `${provider}://`}${id}`;
}
