import type { AcquisitionNote } from "../model/acquisition-memory.ts";
import type { ObjectRef } from "../model/action.ts";
import type { IPFamily } from "../model/address-source.ts";
import type { PastEvent } from "../model/change.ts";
import type { KubeError } from "../model/errors.ts";
import type { NamespaceGrants } from "../model/grants.ts";
import type { NodeFacts, PodFacts, PodSelector } from "../model/node.ts";
import type { ObjectMeta, Pool, PoolStatus, RecordSet, RecordSetStatus, RoutedIPStatus } from "../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../model/routed-ip.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../model/service.ts";
import type { Workload } from "../model/workload.ts";

/** A coordination.k8s.io/v1 Lease, as far as flipop uses it. */
export interface LeaseRecord {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** `""` when nobody holds it. */
  readonly holder: string;
  readonly durationSeconds: number;
  /** Milliseconds; 0 when absent. */
  readonly acquireTimeMs: number;
  readonly renewTimeMs: number;
  readonly transitions: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** One events.k8s.io/v1 Event about an object of ours. */
export interface ClusterEvent {
  readonly regarding: { readonly kind: "FloatingIPPool" | "NodeDNSRecordSet" | "RoutedIP"; readonly meta: ObjectMeta };
  readonly type: "Normal" | "Warning";
  /** UpperCamelCase, from the closed list. */
  readonly reason: string;
  /** What was done, UpperCamelCase: `AssignIP`. */
  readonly action: string;
  /** At most 1,024 characters. */
  readonly note: string;
  /** The node that it is about as well. Absent = none. */
  readonly nodeName?: string;
}

/**
 * What flipop reads from a cluster. Lists are complete and consistent or they fail with KubeError; each call has its own
 * deadline; idempotent calls are repeated on 429, 500, 502, 503, 504 and connection errors. No method here can write.
 */
export interface ClusterReader {
  /** URL of the API server, for people. */
  readonly server: string;
  /** Milliseconds since the epoch by the API server's clock: its newest `Date` header, carried on by a local monotonic clock. Local time before the first answer. */
  now(): number;
  /** Every FloatingIPPool of every namespace, sorted by namespace and name. */
  listPools(): Promise<readonly Pool[]>;
  /** Every NodeDNSRecordSet of every namespace, sorted by namespace and name. */
  listRecordSets(): Promise<readonly RecordSet[]>;
  /** Every RoutedIP of every namespace, sorted by namespace and name. KubeError `missing-resource` when the cluster does not know the kind. */
  listRoutedIPs(): Promise<readonly RoutedIP[]>;
  /** Every RoutedIPIssuer; else as {@link listRoutedIPs}. */
  listRoutedIPIssuers(): Promise<readonly RoutedIPIssuer[]>;
  /** What every namespace grants by its annotations, sorted by name; of a namespace without such annotations nothing. KubeError `forbidden` where the permission is missing. */
  listNamespaceGrants(): Promise<readonly NamespaceGrants[]>;
  /** Every Service of every namespace, sorted by namespace and name. */
  listServices(): Promise<readonly ServiceFacts[]>;
  /** The EndpointSlices of one Service, in no order. The server selects them. Refusals as of {@link listPods}. */
  listEndpointSlices(service: {
    readonly namespace: string;
    readonly name: string;
  }): Promise<readonly EndpointSliceFacts[]>;
  /** Every node, sorted by name. */
  listNodes(): Promise<readonly NodeFacts[]>;
  /**
   * Pods of the selector that are bound to a node, in no order. The label selector is applied by the server. If the server refuses
   * what this selector asks, and still answers others, {@link isRequestRefusal} is true of the KubeError.
   */
  listPods(selector: PodSelector): Promise<readonly PodFacts[]>;
  /** One pool as it is now; undefined when it is gone. */
  readPool(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<Pool | undefined>;
  /** One record set as it is now; undefined when it is gone. */
  readRecordSet(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<RecordSet | undefined>;
  /** One RoutedIP as it is now; undefined when it is gone. */
  readRoutedIP(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<RoutedIP | undefined>;
  /** One node as it is now; undefined when it is gone. Fails only where neither a reading of it nor a list of it alone succeeds. */
  readNode(name: string): Promise<NodeFacts | undefined>;
  /** The pods of the selector on one node as they are now, in no order: asked of the API server, also by who keeps lists in memory. */
  readPodsOn(selector: PodSelector, nodeName: string): Promise<readonly PodFacts[]>;
  /** As {@link listEndpointSlices}, as they are now. */
  readEndpointSlices(service: {
    readonly namespace: string;
    readonly name: string;
  }): Promise<readonly EndpointSliceFacts[]>;
  /** The Lease; undefined when it does not exist. */
  readLease(namespace: string, name: string): Promise<LeaseRecord | undefined>;
}

/** What tells which pods a selector may have meant that selects none. */
export interface PodLabelReader {
  /** The labels of pods of a namespace, finished ones left out: of 500 at most, in no order. */
  listPodLabels(namespace: string): Promise<readonly Readonly<Record<string, string>>[]>;
}

/** Objects as they would be, laid over those of a cluster as they are read. Absent objects and fields are not invented: `decode` reads what the API server would hold. */
export interface Overlay {
  /** True where it changes nothing. */
  readonly isEmpty: boolean;
  /** Returns an object of the cluster as it is to be seen; undefined = as if it were not there. */
  seen<T>(of: OverlaidKind, object: unknown, decode: (object: unknown) => T | undefined, nowMs: number): T | undefined;
  /** Returns objects that the cluster may lack. Where it has one of that name, that one counts. */
  fresh<T>(of: OverlaidKind, decode: (object: unknown) => T | undefined, nowMs: number): readonly T[];
}

/** The kinds of objects that can be laid over those of a cluster. */
type OverlaidKind = "pool" | "routedip" | "dns" | "issuer";

/** What tells an empty namespace from one that does not exist. */
export interface NamespaceReader {
  /** True when the namespace exists, false when it does not; undefined where the reader may not look, or the server does not say. */
  hasNamespace(name: string): Promise<boolean | undefined>;
}

/** What tells what happened to objects of flipop. */
export interface EventReader {
  /** The Events about pools, routed IPs and record sets that the cluster still keeps, of one namespace or of all, in no order. KubeError `forbidden` where the permission is missing. */
  listEvents(namespace?: string): Promise<readonly PastEvent[]>;
}

/** What tells who runs flipop in a cluster, and when. */
export interface WorkloadReader {
  /** CronJobs and Deployments of a namespace that are part of flipop by their labels, in no order. KubeError `forbidden` where the permission is missing. */
  listWorkloads(namespace: string): Promise<readonly Workload[]>;
}

/** What tells one cluster from another. */
export interface IdentityReader {
  /** The uid of the namespace `kube-system`, which every cluster has and none has twice. It is read with the right to list namespaces. */
  clusterUID(): Promise<string>;
}

/** A cluster of which a person changes annotations that flipop reads, and nothing else. */
export interface AnnotatableCluster extends ClusterReader, NamespaceReader {
  /** Sets (text) or removes (null) annotations of a pool, routed IP or record set, and nothing else. Idempotent. KubeError `not-found` when the object is gone. */
  annotateObject(object: ObjectRef, annotations: AnnotationChanges): Promise<void>;
  /**
   * As {@link annotateObject}, for the Lease. A Lease that does not exist is created without a holder, unless annotations are only removed. KubeError `not-found` when
   * its namespace does not exist.
   */
  annotateLease(namespace: string, name: string, annotations: AnnotationChanges): Promise<void>;
}

/** Annotations by name: text, or null for none. */
export type AnnotationChanges = Readonly<Record<string, string | null>>;

/** A cluster that may also be changed. */
export interface ClusterWriter extends ClusterReader {
  /**
   * Replaces the status fields flipop owns (a merge patch of `/status` with the resourceVersion of `meta`: fields absent from
   * `status` are removed, fields flipop does not know stay). Returns the pool as stored: compare, an old CRD prunes.
   * KubeError `conflict` when the object changed since `meta` was read.
   */
  patchPoolStatus(meta: ObjectMeta, status: PoolStatus): Promise<Pool>;
  /** Adds or removes flipop's finalizer, and only that one (merge patch with resourceVersion). Returns the pool as stored. */
  setPoolFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<Pool>;
  /**
   * Writes what the pool's annotation tells of its acquisitions, or removes it where that is nothing; no other annotation is touched (merge patch with
   * resourceVersion). Returns the pool as stored. KubeError `conflict` when the object changed since `meta` was read.
   */
  notePoolAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<Pool>;
  /** As {@link patchPoolStatus}, for a record set. */
  patchRecordSetStatus(meta: ObjectMeta, status: RecordSetStatus): Promise<RecordSet>;
  /** As {@link setPoolFinalizer}, for a record set. */
  setRecordSetFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RecordSet>;
  /** As {@link patchPoolStatus}, for a RoutedIP. */
  patchRoutedIPStatus(meta: ObjectMeta, status: RoutedIPStatus): Promise<RoutedIP>;
  /** As {@link setPoolFinalizer}, for a RoutedIP. */
  setRoutedIPFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RoutedIP>;
  /** As {@link notePoolAcquisitions}, for a RoutedIP. */
  noteRoutedIPAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<RoutedIP>;
  /**
   * Sets (string) or removes (null) our node annotations of one family, IPv4 where none is given, and nothing else; one that is absent stays as it is. Idempotent.
   * KubeError `not-found` when the node is gone.
   */
  annotateNode(
    name: string,
    annotations: {
      readonly address: string | null;
      readonly pool: string | null;
      readonly host?: string | null;
      readonly ipFamily?: IPFamily;
    },
  ): Promise<void>;
  /**
   * Writes one Event; a Warning that says the same again is counted in the Event that is there (a series). Best effort: callers survive its failure.
   * @returns the refusal, if the Event is there and a permission to count it is missing; else undefined
   */
  createEvent(event: ClusterEvent): Promise<KubeError | undefined>;
  /** Creates the Lease; KubeError `already-exists`, or `not-found` when the namespace does not exist. */
  createLease(lease: Omit<LeaseRecord, "resourceVersion">): Promise<LeaseRecord>;
  /** Replaces the Lease; KubeError `conflict` when its resourceVersion is not current. */
  replaceLease(lease: LeaseRecord): Promise<LeaseRecord>;
}

/** Something in a list that a plan may see differently now. */
export interface ClusterChange {
  readonly kind:
    | "node"
    | "pod"
    | "pool"
    | "record-set"
    | "routed-ip"
    | "issuer"
    | "service"
    | "endpoint-slice"
    | "namespace";
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
  /**
   * Returns the oldest failure that keeps a list from being current; undefined if there is none. These count as none: a list that is being read for the first time, record
   * sets that the cluster does not know, and a list of pods or EndpointSlices that the server refuses because of what it asks.
   */
  staleness(): Staleness | undefined;
  /** Ends all watches and lets connections go. */
  close(): void;
}
