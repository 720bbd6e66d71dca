import type { Call } from "../../src/adapters/kube/call.ts";
import { qualifiedResource, RESOURCES } from "../../src/adapters/kube/call.ts";
import { callFailure } from "../../src/adapters/kube/call-failure.ts";
import type { Connection } from "../../src/adapters/kube/connection.ts";
import { decodeNode } from "../../src/adapters/kube/decode-node.ts";
import { decodePod } from "../../src/adapters/kube/decode-pod.ts";
import { decodePool } from "../../src/adapters/kube/decode-pool.ts";
import { encodeEvent } from "../../src/adapters/kube/encode-event.ts";
import { encodePoolStatus } from "../../src/adapters/kube/encode-pool-status.ts";
import { decodeLease, encodeLease } from "../../src/adapters/kube/lease-codec.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { NodeFacts, PodFacts, PodSelector } from "../../src/model/node.ts";
import {
  ADDRESS_ANNOTATION,
  FINALIZER,
  type ObjectMeta,
  objectKey,
  POOL_ANNOTATION,
  type Pool,
  type PoolStatus,
} from "../../src/model/resource.ts";
import type { ClusterEvent, ClusterWriter, LeaseRecord } from "../../src/ports/cluster.ts";
import { arrayAt } from "../../src/sandbox/kubernetes/json-object.ts";
import { type KubernetesSandbox, kubernetesSandbox } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { listObjects } from "../../src/sandbox/kubernetes/list-objects.ts";
import { storeKey } from "../../src/sandbox/kubernetes/object-store.ts";
import type { ResourceType } from "../../src/sandbox/kubernetes/resource-type.ts";
import { conflict, StatusError } from "../../src/sandbox/kubernetes/status-error.ts";

/** A fault at one call: before its effect, or after it. */
export type ClusterFault = { readonly throw: Error } | { readonly throwAfter: Error };

/** One write that reached the cluster, in order; injected faults included. */
export interface ClusterWrite {
  /** Verb and resource, as in KubeError: `patch floatingippools.flipop.digitalocean.com/status`. */
  readonly operation: string;
  /** `NAMESPACE/NAME`, or a node's name. */
  readonly subject: string;
}

/** What a memory cluster may be given. */
export interface MemoryClusterOptions {
  /** The cluster; several fakes may share one. Default: an empty one with flipop's definitions. */
  readonly sandbox?: KubernetesSandbox;
  /** Milliseconds since the epoch; default: the machine's clock. */
  readonly now?: () => number;
  /** Called once per call that is about to reach the cluster; a fault it returns is thrown in place of the answer. */
  readonly beforeCall?: (operation: string, subject: string) => ClusterFault | undefined;
}

const CONNECTION: Connection = {
  server: "http://memory.example",
  source: "the memory cluster",
  context: "memory",
  namespace: "default",
  tls: { isInsecure: false },
  user: {},
  impersonation: { groups: [], extra: {} },
};

const UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed";

type Facts = Pick<Call, "verb" | "resource" | "subject" | "subresource">;

/**
 * The cluster port straight on the emulated Kubernetes API, without HTTP: same decoding and same error texts as the HTTP
 * adapter, in microseconds. Every method settles within promise reactions alone.
 */
export class MemoryCluster implements ClusterWriter {
  readonly server: string = CONNECTION.server;
  /** The cluster itself, for arranging and changing its objects. */
  readonly sandbox: KubernetesSandbox;
  /** Every write that reached the cluster. */
  readonly writes: ClusterWrite[] = [];
  /** May be exchanged at any time. */
  beforeCall: ((operation: string, subject: string) => ClusterFault | undefined) | undefined;
  private readonly time: () => number;
  private events = 0;

  constructor(options: MemoryClusterOptions = {}) {
    this.time = options.now ?? Date.now;
    this.sandbox = options.sandbox ?? kubernetesSandbox({ now: this.time });
    this.beforeCall = options.beforeCall;
  }

  now(): number {
    return this.time();
  }

  async listPools(): Promise<readonly Pool[]> {
    return this.list("pools", "", new URLSearchParams(), decodePool);
  }

  async listNodes(): Promise<readonly NodeFacts[]> {
    return this.list("nodes", "", new URLSearchParams(), decodeNode);
  }

  async listPods({ namespace, label }: PodSelector): Promise<readonly PodFacts[]> {
    const query = new URLSearchParams({ fieldSelector: UNFINISHED, labelSelector: label });
    return this.list("pods", namespace, query, decodePod);
  }

  async readPool(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<Pool | undefined> {
    return this.read("pools", objectKey(meta), decodePool);
  }

  async readNode(name: string): Promise<NodeFacts | undefined> {
    return this.read("nodes", name, decodeNode);
  }

  async readLease(namespace: string, name: string): Promise<LeaseRecord | undefined> {
    return this.read("leases", `${namespace}/${name}`, decodeLease);
  }

  async patchPoolStatus(meta: ObjectMeta, status: PoolStatus): Promise<Pool> {
    const facts = {
      verb: "patch",
      resource: RESOURCES.pools,
      subject: objectKey(meta),
      subresource: "status",
    } as const;
    const stored = this.write(facts, (type) => {
      const current = this.sandbox.api.get(type, objectKey(meta));
      const patch = encodePoolStatus(status, current["status"]);
      const body = { metadata: { resourceVersion: meta.resourceVersion }, status: patch };
      return this.sandbox.api.patch(type, objectKey(meta), body, { subresource: "status" }).object;
    });
    return decoded(decodePool(stored));
  }

  async setPoolFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<Pool> {
    const others = meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
    const finalizers = isPresent ? [...others, FINALIZER] : others;
    const stored = this.write({ verb: "patch", resource: RESOURCES.pools, subject: objectKey(meta) }, (type) => {
      const body = { metadata: { resourceVersion: meta.resourceVersion, finalizers } };
      return this.sandbox.api.patch(type, objectKey(meta), body).object;
    });
    return decoded(decodePool(stored));
  }

  async annotateNode(
    name: string,
    { address, pool }: { readonly address: string | null; readonly pool: string | null },
  ): Promise<void> {
    const annotations = { [ADDRESS_ANNOTATION]: address, [POOL_ANNOTATION]: pool };
    this.write({ verb: "patch", resource: RESOURCES.nodes, subject: name }, (type) =>
      this.sandbox.api.patch(type, name, { metadata: { annotations } }),
    );
  }

  async createEvent(event: ClusterEvent): Promise<void> {
    const { meta } = event.regarding;
    this.events += 1;
    const stamp = { eventTimeMs: this.now(), reportingInstance: "memory", suffix: String(this.events) };
    this.write({ verb: "create", resource: RESOURCES.events, subject: objectKey(meta) }, (type) =>
      this.sandbox.api.create(type, meta.namespace, encodeEvent(event, stamp)),
    );
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

  private list<T>(
    resource: "pools" | "nodes" | "pods",
    namespace: string,
    query: URLSearchParams,
    decode: (object: unknown) => T | undefined,
  ): readonly T[] {
    const list = this.call({ verb: "list", resource: RESOURCES[resource], subject: "" }, (type) =>
      listObjects(this.sandbox.api, type, namespace === "" ? undefined : namespace, query),
    );
    return arrayAt(list, "items").flatMap((object) => decode(object) ?? []);
  }

  private read<T>(
    resource: "pools" | "nodes" | "leases",
    subject: string,
    decode: (object: unknown) => T | undefined,
  ): T | undefined {
    try {
      return decode(
        this.call({ verb: "get", resource: RESOURCES[resource], subject }, (type) =>
          this.sandbox.api.get(type, subject),
        ),
      );
    } catch (error) {
      if (error instanceof KubeError && error.failure === "not-found") return undefined;
      throw error;
    }
  }

  private write<T>(facts: Facts, work: (type: ResourceType) => T): T {
    this.writes.push({ operation: operationOf(facts), subject: facts.subject });
    return this.call(facts, work);
  }

  private call<T>(facts: Facts, work: (type: ResourceType) => T): T {
    const fault = this.beforeCall?.(operationOf(facts), facts.subject);
    if (fault !== undefined && "throw" in fault) throw fault.throw;
    const result = this.attempt(facts, work);
    if (fault !== undefined) throw fault.throwAfter;
    return result;
  }

  private attempt<T>(facts: Facts, work: (type: ResourceType) => T): T {
    const { group, version, plural } = facts.resource;
    try {
      const type = this.sandbox.api.types.byPlural(group, version, plural);
      if (type === undefined)
        throw new StatusError(404, "NotFound", "the server could not find the requested resource");
      return work(type);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const answer = { status: error.code, headers: {}, body: Buffer.from(JSON.stringify(error)) };
      throw callFailure({ ...facts, method: "GET", path: "" }, answer, CONNECTION);
    }
  }
}

function operationOf(facts: Facts): string {
  return `${facts.verb} ${qualifiedResource(facts)}`;
}

function decoded<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the emulated API answered something that cannot be decoded");
  return value;
}
