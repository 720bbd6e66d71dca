import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { KubeError } from "../../model/errors.ts";
import type { AcquisitionNote } from "../../model/lease-notes.ts";
import {
  ADDRESS_ANNOTATION,
  type ObjectMeta,
  objectKey,
  POOL_ANNOTATION,
  type Pool,
  type PoolStatus,
  type RecordSet,
  type RecordSetStatus,
  type RoutedIPStatus,
} from "../../model/resource.ts";
import type { RoutedIP } from "../../model/routed-ip.ts";
import type { ClusterEvent, ClusterWriter, LeaseRecord, NamespaceReader } from "../../ports/cluster.ts";
import { type Answer, type Call, type Connection, RESOURCES, resourcePath } from "./call.ts";
import { KubeClusterReader, type ReadAccess } from "./cluster-reader.ts";
import { CUSTOM_RESOURCES } from "./decode-custom.ts";
import { encodeEvent, nextSeries } from "./events.ts";
import { answerJSON, malformed } from "./failures.ts";
import { decodeLease, encodeLease } from "./lease.ts";
import { type Confirmation, Transport, type TransportOptions } from "./transport.ts";
import { noteAcquisitions, patchStatus, setFinalizer } from "./write-custom-object.ts";

/**
 * A reader of the connection's cluster that may also change it. No call is made before its first method is called. `close`
 * lets idle connections go.
 */
export function createClusterWriter(
  connection: Connection,
  options: TransportOptions & {
    /** Who reports Events: the pod's or the host's name. */
    readonly reportingInstance: string;
  },
): ClusterWriter & NamespaceReader & { readonly close: () => void } {
  const transport = new Transport(connection, options);
  const seen = new SeenObjects();
  const access = {
    connection,
    send: transport.send.bind(transport),
    write: transport.send.bind(transport),
    nowMs: () => transport.nowMs(),
    close: () => transport.close(),
    seen,
    onObject: seen.add.bind(seen),
    onLease: seen.addLease.bind(seen),
  };
  return new KubeClusterWriter(access, options.reportingInstance);
}

/** Both annotations of a node as they shall be: text, or null for none. */
export type NodeAnnotations = Parameters<ClusterWriter["annotateNode"]>[1];

/** A {@link ClusterWriter} over HTTP. */
export class KubeClusterWriter extends KubeClusterReader implements ClusterWriter {
  readonly #access: WriteAccess;
  readonly #reportingInstance: string;

  /** @param reportingInstance who reports Events: a pod's or a host's name. */
  constructor(access: WriteAccess, reportingInstance: string) {
    super(access);
    this.#access = access;
    this.#reportingInstance = reportingInstance;
  }

  async patchPoolStatus(meta: ObjectMeta, status: PoolStatus): Promise<Pool> {
    return await patchStatus(this.#access, CUSTOM_RESOURCES.pools, meta, status);
  }

  async setPoolFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<Pool> {
    return await setFinalizer(this.#access, CUSTOM_RESOURCES.pools, meta, isPresent);
  }

  async notePoolAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<Pool> {
    return await noteAcquisitions(this.#access, CUSTOM_RESOURCES.pools, meta, note);
  }

  async patchRecordSetStatus(meta: ObjectMeta, status: RecordSetStatus): Promise<RecordSet> {
    return await patchStatus(this.#access, CUSTOM_RESOURCES.recordSets, meta, status);
  }

  async setRecordSetFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RecordSet> {
    return await setFinalizer(this.#access, CUSTOM_RESOURCES.recordSets, meta, isPresent);
  }

  async patchRoutedIPStatus(meta: ObjectMeta, status: RoutedIPStatus): Promise<RoutedIP> {
    return await patchStatus(this.#access, CUSTOM_RESOURCES.routedIPs, meta, status);
  }

  async setRoutedIPFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RoutedIP> {
    return await setFinalizer(this.#access, CUSTOM_RESOURCES.routedIPs, meta, isPresent);
  }

  async noteRoutedIPAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<RoutedIP> {
    return await noteAcquisitions(this.#access, CUSTOM_RESOURCES.routedIPs, meta, note);
  }

  async annotateNode(name: string, annotations: NodeAnnotations): Promise<void> {
    await this.patchNode(name, annotations);
  }

  /** Writes the annotations; returns what reads the node as stored from the answer. */
  protected async patchNode(name: string, annotations: NodeAnnotations): Promise<() => unknown> {
    const wanted = { [ADDRESS_ANNOTATION]: annotations.address, [POOL_ANNOTATION]: annotations.pool };
    const call: Call = {
      method: "PATCH",
      path: resourcePath(RESOURCES.nodes, { name }),
      verb: "patch",
      resource: RESOURCES.nodes,
      subject: name,
      body: { metadata: { annotations: wanted } },
    };
    const answer = await this.#access.write(call);
    return () => answerJSON(call, answer, this.#access.connection);
  }

  async createEvent(event: ClusterEvent): Promise<KubeError | undefined> {
    const stamp = {
      eventTimeMs: this.now(),
      reportingInstance: this.#reportingInstance,
      suffix: randomBytes(8).toString("hex"),
    };
    const body = encodeEvent({ ...event, note: this.#redact(event.note) }, stamp);
    const call = { resource: RESOURCES.events, subject: objectKey(event.regarding.meta) };
    const { namespace, name } = body.metadata;
    try {
      const path = resourcePath(RESOURCES.events, { namespace });
      await this.#access.write({ ...call, method: "POST", path, verb: "create", body });
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeError && error.failure === "already-exists")) throw error;
      const stored = { ...call, path: resourcePath(RESOURCES.events, { namespace, name }) };
      return await this.#countAgain(stored).then(() => undefined, missingPermission);
    }
  }

  /** Counts one more occurrence of an Event. */
  async #countAgain(call: Pick<Call, "path" | "resource" | "subject">): Promise<void> {
    const reading: Call = { ...call, method: "GET", verb: "get" };
    const stored = answerJSON(reading, await this.#access.send(reading), this.#access.connection);
    await this.#access.write({ ...call, method: "PATCH", verb: "patch", body: nextSeries(stored, this.now()) });
  }

  #redact(text: string): string {
    return this.#access.connection.secrets?.redact(text) ?? text;
  }

  async createLease(lease: Omit<LeaseRecord, "resourceVersion">): Promise<LeaseRecord> {
    return await createLease(this.#access, lease);
  }

  async replaceLease(lease: LeaseRecord): Promise<LeaseRecord> {
    return await replaceLease(this.#access, lease);
  }
}

/**
 * Returns the failure to count an Event, if a permission is missing: only a person can mend that. Any other failure is passed
 * over, because one count less hurts nobody.
 */
function missingPermission(error: unknown): KubeError | undefined {
  if (!(error instanceof KubeError)) throw error;
  return error.failure === "forbidden" ? error : undefined;
}

/** What a writer is built from, beside what a reader is. */
export interface WriteAccess extends ReadAccess {
  /** The answer of any call that succeeded, see `Transport.send`. */
  readonly write: (call: Call, confirm?: Confirmation) => Promise<Answer>;
  readonly seen: SeenObjects;
}

/**
 * The objects as the server sent them, kept beside what was decoded of them, because a write must respect what flipop does
 * not decode. That of a pool or record set is found by the identity of its `meta` and goes when that goes; of a Lease the
 * newest is kept. Never stale in effect: every write that uses one carries the resourceVersion it was read at.
 */
export class SeenObjects {
  readonly #objects = new WeakMap<ObjectMeta, unknown>();
  readonly #leases = new Map<string, { readonly resourceVersion: string; readonly object: unknown }>();

  /** Remembers a pool's or record set's object. */
  add(meta: ObjectMeta, object: unknown): void {
    this.#objects.set(meta, object);
  }

  /** The object this very `meta` was decoded from; undefined for a copy of it. */
  objectOf(meta: ObjectMeta): unknown {
    return this.#objects.get(meta);
  }

  /** Remembers a Lease in place of an older one. */
  addLease(lease: LeaseRecord, object: unknown): void {
    this.#leases.set(`${lease.namespace}/${lease.name}`, { resourceVersion: lease.resourceVersion, object });
  }

  /** The object of a Lease at its resourceVersion; undefined when another version was seen last. */
  leaseOf(lease: LeaseRecord): unknown {
    const seen = this.#leases.get(`${lease.namespace}/${lease.name}`);
    return seen?.resourceVersion === lease.resourceVersion ? seen.object : undefined;
  }
}

/** Creates a Lease: one POST, never repeated. @throws KubeError `already-exists`; `not-found` without its namespace. */
async function createLease(access: WriteAccess, lease: Omit<LeaseRecord, "resourceVersion">): Promise<LeaseRecord> {
  const path = resourcePath(RESOURCES.leases, { namespace: lease.namespace });
  const call: Call = { method: "POST", path, verb: "create", ...about(lease), body: encodeLease(lease, undefined) };
  return leaseOf(access, call, await access.write(call));
}

/**
 * Replaces a Lease at its resourceVersion: one PUT. Idempotent: when a repeat meets a conflict and the stored Lease carries
 * exactly what was sent, the lost try had taken effect, and that is success.
 * @throws KubeError `conflict` when somebody else changed it.
 */
async function replaceLease(access: WriteAccess, lease: LeaseRecord): Promise<LeaseRecord> {
  const { metadata, ...rest } = encodeLease(lease, access.seen.leaseOf(lease));
  const body = { ...rest, metadata: { ...(metadata as object), resourceVersion: lease.resourceVersion } };
  const path = resourcePath(RESOURCES.leases, { namespace: lease.namespace, name: lease.name });
  const call: Call = { method: "PUT", path, verb: "update", ...about(lease), body };
  const answer = await access.write(call, async (refusal) => {
    if (refusal.failure !== "conflict") return undefined;
    return await storedIfSame(access, { method: "GET", path, verb: "get", ...about(lease) }, lease);
  });
  return leaseOf(access, call, answer);
}

function about(lease: Pick<LeaseRecord, "namespace" | "name">): Pick<Call, "resource" | "subject"> {
  return { resource: RESOURCES.leases, subject: `${lease.namespace}/${lease.name}` };
}

/** A failing read proves nothing. */
async function storedIfSame(access: WriteAccess, call: Call, sent: LeaseRecord): Promise<Answer | undefined> {
  try {
    const answer = await access.send(call);
    const stored = decodeLease(answerJSON(call, answer, access.connection));
    return isDeepStrictEqual({ ...stored, resourceVersion: "" }, { ...sent, resourceVersion: "" }) ? answer : undefined;
  } catch {
    return undefined;
  }
}

function leaseOf(access: WriteAccess, call: Call, answer: Answer): LeaseRecord {
  const object = answerJSON(call, answer, access.connection);
  const lease = decodeLease(object);
  if (lease === undefined)
    throw malformed(call, access.connection, { status: answer.status, why: "the answer is no Lease" });
  access.seen.addLease(lease, object);
  return lease;
}
