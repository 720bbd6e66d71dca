import { randomBytes } from "node:crypto";
import type { AcquisitionNote } from "../../model/acquisition-memory.ts";
import { KubeError } from "../../model/errors.ts";
import { NODE_ANNOTATIONS } from "../../model/node-annotations.ts";
import {
  type ObjectMeta,
  objectKey,
  type Pool,
  type PoolStatus,
  type RecordSet,
  type RecordSetStatus,
  type RoutedIPStatus,
} from "../../model/resource.ts";
import type { RoutedIP } from "../../model/routed-ip.ts";
import type {
  ClusterEvent,
  ClusterWriter,
  EventReader,
  IdentityReader,
  LeaseRecord,
  NamespaceReader,
} from "../../ports/cluster.ts";
import { type WriteAccess, writeAccess } from "./access.ts";
import { type Call, type Connection, RESOURCES, resourcePath } from "./call.ts";
import { KubeClusterReader } from "./cluster-reader.ts";
import { CUSTOM_RESOURCES, type CustomResource } from "./custom-resources.ts";
import { encodeEvent, nextSeries } from "./events.ts";
import { answerJSON } from "./failures.ts";
import { createLease, replaceLease } from "./lease.ts";
import { Transport, type TransportOptions } from "./transport.ts";
import { CustomObjectWriter } from "./write-custom-object.ts";

/** What a cluster is opened with that may be changed. */
export interface WriterOptions extends TransportOptions {
  /** Who reports Events: the pod's or the host's name. */
  readonly reportingInstance: string;
}

/**
 * A reader of the connection's cluster that may also change it. No call is made before its first method is called. `close`
 * lets idle connections go.
 */
export function createClusterWriter(
  connection: Connection,
  options: WriterOptions,
): ClusterWriter &
  NamespaceReader &
  IdentityReader &
  EventReader & { readonly source: string; readonly logIn: () => Promise<void>; readonly close: () => void } {
  return new KubeClusterWriter(writeAccess(new Transport(connection, options)), options.reportingInstance);
}

/** The annotations of a node as they shall be: text, or null for none. */
export type NodeAnnotations = Parameters<ClusterWriter["annotateNode"]>[1];

type Custom<Status> = { readonly meta: ObjectMeta; readonly status: Status };

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

  /** See `Transport.logIn`. */
  logIn(): Promise<void> {
    return this.#access.logIn();
  }

  async patchPoolStatus(meta: ObjectMeta, status: PoolStatus): Promise<Pool> {
    return await this.written(CUSTOM_RESOURCES.pools, meta, (object) => object.patchStatus(status));
  }

  async setPoolFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<Pool> {
    return await this.written(CUSTOM_RESOURCES.pools, meta, (object) => object.setFinalizer(isPresent));
  }

  async notePoolAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<Pool> {
    return await this.written(CUSTOM_RESOURCES.pools, meta, (object) => object.noteAcquisitions(note));
  }

  async patchRecordSetStatus(meta: ObjectMeta, status: RecordSetStatus): Promise<RecordSet> {
    return await this.written(CUSTOM_RESOURCES.recordSets, meta, (object) => object.patchStatus(status));
  }

  async setRecordSetFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RecordSet> {
    return await this.written(CUSTOM_RESOURCES.recordSets, meta, (object) => object.setFinalizer(isPresent));
  }

  async patchRoutedIPStatus(meta: ObjectMeta, status: RoutedIPStatus): Promise<RoutedIP> {
    return await this.written(CUSTOM_RESOURCES.routedIPs, meta, (object) => object.patchStatus(status));
  }

  async setRoutedIPFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<RoutedIP> {
    return await this.written(CUSTOM_RESOURCES.routedIPs, meta, (object) => object.setFinalizer(isPresent));
  }

  async noteRoutedIPAcquisitions(meta: ObjectMeta, note: AcquisitionNote): Promise<RoutedIP> {
    return await this.written(CUSTOM_RESOURCES.routedIPs, meta, (object) => object.noteAcquisitions(note));
  }

  /** Runs a write of one of flipop's own objects. Who keeps lists in memory takes note of the object as stored. */
  protected async written<T extends Custom<Status>, Status>(
    kind: CustomResource<T, Status>,
    meta: ObjectMeta,
    write: (object: CustomObjectWriter<T, Status>) => Promise<T>,
  ): Promise<T> {
    return await write(new CustomObjectWriter(this.#access, kind, meta));
  }

  async annotateNode(name: string, annotations: NodeAnnotations): Promise<void> {
    await this.patchNode(name, annotations);
  }

  /** Writes the annotations; returns what reads the node as stored from the answer. */
  protected async patchNode(name: string, annotations: NodeAnnotations): Promise<() => unknown> {
    const { address, pool, host, ipFamily = "IPv4" } = annotations;
    const names = NODE_ANNOTATIONS[ipFamily];
    const wanted = {
      [names.address]: address,
      [names.pool]: pool,
      ...(host === undefined ? {} : { [names.host]: host }),
    };
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
