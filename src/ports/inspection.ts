import type { ClusterReader, LeaseRecord, NamespaceReader, WorkloadReader } from "./cluster.ts";

/** Something that may be done in a cluster, as RBAC names it. */
export interface Permission {
  readonly verb: string;
  /** `""` for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Absent = in all namespaces. */
  readonly namespace?: string;
  /** Absent = whatever its name. */
  readonly name?: string;
}

/** A CustomResourceDefinition as the cluster has it. */
export interface Definition {
  readonly isEstablished: boolean;
  /** The whole object. */
  readonly object: unknown;
}

/** A DaemonSet of `flipop host`. */
export interface HostDaemonSet {
  readonly namespace: string;
  readonly name: string;
  /** On how many nodes a pod of it is to run. */
  readonly wanted: number;
}

/** A Deployment of the Go operator of the same name. */
export interface OperatorDeployment {
  readonly namespace: string;
  readonly replicas: number;
  readonly image: string;
}

/**
 * What `flipop doctor` reads of a cluster beside what runs read. Nothing here writes: an access review stores nothing. Each list, and each Lease, is read once: later calls
 * get the same answer or failure, so all checks speak of the same state. Failures as of {@link ClusterReader}.
 */
export interface ClusterInspector extends ClusterReader, NamespaceReader, WorkloadReader {
  /** Which cluster it is, for people: `context "prod" of /home/me/.kube/config`. */
  readonly source: string;
  /** The version of the API server: `v1.33.2`. */
  readVersion(): Promise<string>;
  /** A definition by its name; undefined when there is none. */
  readDefinition(name: string): Promise<Definition | undefined>;
  /** The Leases of this name in all namespaces, in no order. */
  listLeases(name: string): Promise<readonly LeaseRecord[]>;
  /** The DaemonSets of `flipop host` in all namespaces, in no order. */
  listHostDaemonSets(): Promise<readonly HostDaemonSet[]>;
  /** The Deployments that have the name of the Go operator's, `flipop`, and are not of this flipop; in all namespaces, in no order. */
  listOperatorDeployments(): Promise<readonly OperatorDeployment[]>;
  /** True where whoever asks may do it. KubeError `forbidden` where nobody may ask in the name of somebody else. */
  mayDo(permission: Permission): Promise<boolean>;
}
