import type { ClusterWriter } from "../../src/ports/cluster.ts";

// What the cluster contract works on, and what its tests put there.

/** A Kubernetes object as YAML manifests write it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
  /** Of an EndpointSlice, which has no spec. */
  readonly addressType?: string;
  readonly endpoints?: unknown;
  readonly ports?: unknown;
}

/** A cluster with nobody else in it, and a way to put objects there that does not go through the port. */
export interface ContractWorld {
  readonly cluster: ClusterWriter;
  readonly seed: {
    /** Creates one of flipop's custom objects with exactly this metadata, spec and status. */
    object(manifest: Manifest): Promise<void>;
    /** Puts an older CRD in force, without this field of the status; it may take a moment. What it returns takes that back. */
    olderCRD(name: string, field: string): Promise<() => Promise<void>>;
    /** Creates a Node with exactly these taints, labels, annotations and status. */
    node(manifest: Manifest): Promise<void>;
    /** Creates a Pod with exactly this spec and status. */
    pod(manifest: Manifest): Promise<void>;
    /** Creates a Service or an EndpointSlice with exactly this content, as far as the server lets it. */
    service(manifest: Manifest): Promise<void>;
    /** A namespace that exists and is this world's alone. */
    namespace(): string;
  };
  dispose(): Promise<void>;
}
