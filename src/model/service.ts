import type { PodSummary } from "./observation.ts";

/** What flipop needs of a Service that a RoutedIP names. */
export interface ServiceFacts {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`. */
  readonly type: string;
  /** Empty when it has none: then its EndpointSlices say where it is served. */
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePort[];
  /** The first part that cannot be read. Then nothing is done for a RoutedIP that needs the part. Absent if everything can be read. */
  readonly unreadable?: "spec" | "spec.type" | "spec.selector" | "spec.ports";
}

/** One port of a Service. */
export interface ServicePort {
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol: string;
  readonly port: number;
  /** 0 when the Service has none. */
  readonly nodePort: number;
}

/** Stands for the node of pods and endpoints whose node cannot be read. No node has this name. */
export const NO_NODE = "";

/** The endpoints of one discovery.k8s.io/v1 EndpointSlice, summed up by node; endpoints without a node are left out. */
export interface EndpointSliceFacts {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Value of the label `kubernetes.io/service-name`. */
  readonly serviceName: string;
  /** An endpoint counts as ready when its condition `ready` is absent or true and it is not terminating. */
  readonly endpointsByNode: ReadonlyMap<string, PodSummary>;
}

/** Names the endpoints of a Service among the pods of an observation; no pod selector has such a key. */
export function endpointsKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `endpoints|${namespace}|${name}`;
}
