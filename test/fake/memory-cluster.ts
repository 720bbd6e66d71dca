import { RESOURCES } from "../../src/adapters/kube/call.ts";
import {
  CUSTOM_RESOURCES,
  type CustomResource,
  decodePool,
  decodeRecordSet,
  decodeRoutedIP,
  decodeRoutedIPIssuer,
} from "../../src/adapters/kube/custom-resources.ts";
import { encodeEvent, nextSeries } from "../../src/adapters/kube/events.ts";
import { decodeLease, encodeLease } from "../../src/adapters/kube/lease.ts";
import { encodeNote } from "../../src/adapters/kube/metadata.ts";
import { decodeNamespace } from "../../src/adapters/kube/namespace.ts";
import { decodeNode } from "../../src/adapters/kube/node.ts";
import { decodePod } from "../../src/adapters/kube/pod.ts";
import type { ServicePlace } from "../../src/adapters/kube/service.ts";
import { decodeEndpointSlice, decodeService, SERVICE_NAME_LABEL } from "../../src/adapters/kube/service.ts";
import type { AcquisitionNote } from "../../src/model/acquisition-memory.ts";
import type { NamespaceGrants } from "../../src/model/grants.ts";
import type { NodeFacts, PodFacts, PodSelector } from "../../src/model/node.ts";
import { NODE_ANNOTATIONS } from "../../src/model/node-annotations.ts";
import {
  ACQUIRED_ANNOTATION,
  FINALIZER,
  type ObjectMeta,
  objectKey,
  type Pool,
  type PoolStatus,
  type RecordSet,
  type RecordSetStatus,
  type RoutedIPStatus,
} from "../../src/model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../src/model/routed-ip.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../../src/model/service.ts";
import type { ClusterEvent, ClusterWriter, LeaseRecord } from "../../src/ports/cluster.ts";
import { type KubernetesSandbox, kubernetesSandbox } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { storeKey } from "../../src/sandbox/kubernetes/object-store.ts";
import { conflict } from "../../src/sandbox/kubernetes/status-error.ts";
import { type ClusterFault, MemoryCalls } from "./memory-calls.ts";

/** What a memory cluster may be given. */
export interface MemoryClusterOptions {
  /** The cluster; several fakes may share one. Default: an empty one with flipop's definitions. */
  readonly sandbox?: KubernetesSandbox;
  /** Milliseconds since the epoch; default: the machine's clock. */
  readonly now?: () => number;
  /** Called once per call that is about to reach the cluster, for a list with its namespace; a fault it returns is thrown in place of the answer. */
  readonly beforeCall?: (operation: string, subject: string, part?: "note") => ClusterFault | undefined;
}

/** As the adapter: finished pods are left out. */
export const UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed";

/**
 * The cluster port straight on the emulated Kubernetes API, without HTTP: same decoding and same error texts as the HTTP
 * adapter, in microseconds. Every method settles within promise reactions alone.
 */
export class MemoryCluster extends MemoryCalls implements ClusterWriter {
  private readonly time: () => number;
  private events = 0;

  constructor(options: MemoryClusterOptions = {}) {
    const time = options.now ?? Date.now;
    super(options.sandbox ?? kubernetesSandbox({ now: time }));
    this.time = time;
    this.beforeCall = options.beforeCall;
  }

  now(): number {
    return this.time();
  }

  async listPools(): Promise<readonly Pool[]> {
    return this.list("pools", "", new URLSearchParams(), decodePool);
  }

  async listRecordSets(): Promise<readonly RecordSet[]> {
    return this.list("recordSets", "", new URLSearchParams(), decodeRecordSet);
  }

  async listRoutedIPs(): Promise<readonly RoutedIP[]> {
    return this.list("routedIPs", "", new URLSearchParams(), decodeRoutedIP);
  }

  async listRoutedIPIssuers(): Promise<readonly RoutedIPIssuer[]> {
    return this.list("issuers", "", new URLSearchParams(), decodeRoutedIPIssuer);
  }

  async listNamespaceGrants(): Promise<readonly NamespaceGrants[]> {
    return this.list("namespaces", "", new URLSearchParams(), decodeNamespace);
  }

  async listServices(): Promise<readonly ServiceFacts[]> {
    return this.list("services", "", new URLSearchParams(), decodeService);
  }

  async listEndpointSlices({ namespace, name }: ServicePlace): Promise<readonly EndpointSliceFacts[]> {
    const query = new URLSearchParams({ labelSelector: `${SERVICE_NAME_LABEL}=${name}` });
    return this.list("endpointSlices", namespace, query, decodeEndpointSlice);
  }

  async listNodes(): Promise<readonly NodeFacts[]> {
    return this.list("nodes", "", new URLSearchParams(), decodeNode);
  }

  async listPods({ namespace, label }: PodSelector): Promise<readonly PodFacts[]> {
    const query = new URLSearchParams({ fieldSelector: UNFINISHED, labelSelector: label });
    return this.list("pods", namespace, query, decodePod);
  }

  async readPodsOn({ namespace, label }: PodSelector, nodeName: string): Promise<readonly PodFacts[]> {
    const fieldSelector = `${UNFINISHED},spec.nodeName=${nodeName}`;
    return this.list("pods", namespace, new URLSearchParams({ fieldSelector, labelSelector: label }), decodePod);
  }

  async readEndpointSlices(service: ServicePlace): Promise<readonly EndpointSliceFacts[]> {
    return await MemoryCluster.prototype.listEndpointSlices.call(this, service);
  }

  async readPool(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<Pool | undefined> {
    return this.read("pools", objectKey(meta), decodePool);
  }

  async readRecordSet(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<RecordSet | undefined> {
    return this.read("recordSets", objectKey(meta), decodeRecordSet);
  }

  async readRoutedIP(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<RoutedIP | undefined> {
    return this.read("routedIPs", objectKey(meta), decodeRoutedIP);
  }

  async readNode(name: string): Promise<NodeFacts | undefined> {
    return this.read("nodes", name, decodeNode);
  }

  async readLease(namespace: string, name: string): Promise<LeaseRecord | undefined> {
    return this.read("leases", `${namespace}/${name}`, decodeLease);
  }

  async patchPoolStatus(meta: ObjectMeta, status: PoolStatus): Promise<Pool> {
    return this.patchStatus(CUSTOM_RESOURCES.pools, meta, status);
  }

  async setPoolFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<Pool> {
    return this.setFinalizer(CUSTOM_RESOURCES.pools, meta, isPresent);
  }

  async notePoolAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<Pool> {
    return this.noteAcquisitions(CUSTOM_RESOURCES.pools, meta, note);
  }

  async patchRecordSetStatus(meta: ObjectMeta, status: RecordSetStatus): Promise<RecordSet> {
    return this.patchStatus(CUSTOM_RESOURCES.recordSets, meta, status);
  }

  async setRecordSetFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RecordSet> {
    return this.setFinalizer(CUSTOM_RESOURCES.recordSets, meta, isPresent);
  }

  async patchRoutedIPStatus(meta: ObjectMeta, status: RoutedIPStatus): Promise<RoutedIP> {
    return this.patchStatus(CUSTOM_RESOURCES.routedIPs, meta, status);
  }

  async setRoutedIPFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RoutedIP> {
    return this.setFinalizer(CUSTOM_RESOURCES.routedIPs, meta, isPresent);
  }

  async noteRoutedIPAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<RoutedIP> {
    return this.noteAcquisitions(CUSTOM_RESOURCES.routedIPs, meta, note);
  }

  async annotateNode(
    name: string,
    { address, pool, host, ipFamily = "IPv4" }: Parameters<ClusterWriter["annotateNode"]>[1],
  ): Promise<void> {
    const names = NODE_ANNOTATIONS[ipFamily];
    const annotations = {
      [names.address]: address,
      [names.pool]: pool,
      ...(host === undefined ? {} : { [names.host]: host }),
    };
    this.write({ verb: "patch", resource: RESOURCES.nodes, subject: name }, (type) =>
      this.sandbox.api.patch(type, name, { metadata: { annotations } }),
    );
  }

  async createEvent(event: ClusterEvent): Promise<undefined> {
    const { meta } = event.regarding;
    const { resource, subject } = { resource: RESOURCES.events, subject: objectKey(meta) };
    this.write({ verb: "create", resource, subject }, (type) => {
      // Another fake of the same cluster, as every run has its own, may have used the number.
      do this.events += 1;
      while (this.sandbox.api.store.get(storeKey(type), `${subject}.${this.events}`) !== undefined);
      const stamp = { eventTimeMs: this.now(), reportingInstance: "memory", suffix: String(this.events) };
      const body = encodeEvent(event, stamp);
      const key = `${body.metadata.namespace}/${body.metadata.name}`;
      const stored = this.sandbox.api.store.get(storeKey(type), key);
      if (stored === undefined) return this.sandbox.api.create(type, meta.namespace, body);
      return this.sandbox.api.patch(type, key, nextSeries(stored, this.now()));
    });
  }

  async createLease(lease: Omit<LeaseRecord, "resourceVersion">): Promise<LeaseRecord> {
    const stored = this.write({ verb: "create", resource: RESOURCES.leases, subject: objectKey(lease) }, (type) =>
      this.sandbox.api.create(type, lease.namespace, encodeLease(lease, undefined)),
    );
    return decoded(decodeLease(stored.object));
  }

  async replaceLease(lease: LeaseRecord): Promise<LeaseRecord> {
    const stored = this.write({ verb: "update", resource: RESOURCES.leases, subject: objectKey(lease) }, (type) => {
      const current = this.sandbox.api.store.get(storeKey(type), objectKey(lease));
      // The adapter sends the uid it has read, and a Lease that is gone has none.
      if (current === undefined) throw conflict(type, lease.name);
      const { metadata, ...rest } = encodeLease(lease, current);
      const body = { ...rest, metadata: { ...(metadata as object), resourceVersion: lease.resourceVersion } };
      return this.sandbox.api.update(type, objectKey(lease), body);
    });
    return decoded(decodeLease(stored.object));
  }

  private patchStatus<T extends Decoded<Status>, Status>(
    { resource, decode, status: format }: CustomResource<T, Status>,
    meta: ObjectMeta,
    status: Status,
  ): T {
    const subject = objectKey(meta);
    const stored = this.write({ verb: "patch", resource, subject, subresource: "status" }, (type) => {
      const patch = format.patch(status, this.sandbox.api.get(type, subject)["status"]);
      const body = { metadata: { resourceVersion: meta.resourceVersion }, status: patch };
      return this.sandbox.api.patch(type, subject, body, { subresource: "status" }).object;
    });
    return decoded(decode(stored));
  }

  private setFinalizer<T extends Decoded<Status>, Status>(
    { resource, decode }: CustomResource<T, Status>,
    meta: ObjectMeta,
    isPresent: boolean,
  ): T {
    const others = meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
    const finalizers = isPresent ? [...others, FINALIZER] : others;
    const stored = this.write({ verb: "patch", resource, subject: objectKey(meta) }, (type) => {
      const body = { metadata: { resourceVersion: meta.resourceVersion, finalizers } };
      return this.sandbox.api.patch(type, objectKey(meta), body).object;
    });
    return decoded(decode(stored));
  }

  private noteAcquisitions<T extends Decoded<Status>, Status>(
    { resource, decode }: CustomResource<T, Status>,
    meta: ObjectMeta,
    note: AcquisitionNote,
  ): T {
    const annotations = { [ACQUIRED_ANNOTATION]: encodeNote(meta.uid, note) };
    const stored = this.write({ verb: "patch", resource, subject: objectKey(meta), part: "note" }, (type) => {
      const body = { metadata: { resourceVersion: meta.resourceVersion, annotations } };
      return this.sandbox.api.patch(type, objectKey(meta), body).object;
    });
    return decoded(decode(stored));
  }
}

type Decoded<Status> = { readonly meta: ObjectMeta; readonly status: Status };

function decoded<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the emulated API answered something that cannot be decoded");
  return value;
}
