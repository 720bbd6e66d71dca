import type { KubeError } from "../model/errors.ts";
import type { ClusterWriter } from "./cluster.ts";

/** Something in a list that a plan may see differently now. */
export interface ClusterChange {
  readonly kind: "node" | "pod" | "pool" | "record-set" | "routed-ip" | "issuer" | "service" | "endpoint-slice";
  /** Name of a node; `NAMESPACE/NAME` of anything else. */
  readonly subject: string;
}

/** Why lists in memory may be behind the cluster, and since when, milliseconds of the local monotonic clock. */
export interface Staleness {
  readonly sinceMs: number;
  readonly error: KubeError;
}

/**
 * A cluster whose lists are kept in memory by watches. The first call of a list method reads the list and watches it from then on; later calls answer from memory,
 * with what this process wrote itself already in it. A list that is not known to be current fails with the KubeError that says why: nothing is planned on a view
 * that may be old. Reads of single objects and of the Lease go to the API server as ever.
 */
export interface WarmCluster extends ClusterWriter {
  /**
   * Has `listener` called once for each change that is in the lists by then, and once per list for a pod that several selectors select; a change that no plan can see (a
   * heartbeat) is none. Own writes are none either, unless their answer shows what somebody else has changed. That a list is current again is no change by itself: who was
   * refused one asks again.
   */
  onChange(listener: (change: ClusterChange) => void): void;
  /** The oldest failure that keeps a list from being current; undefined while all lists in use are, or are being read for the first time, for record sets that the cluster does not know, and for pods and EndpointSlices whose list the server refuses for what it asks. */
  staleness(): Staleness | undefined;
  /** Ends all watches and lets connections go. */
  close(): void;
}
