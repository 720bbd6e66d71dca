import { randomBytes } from "node:crypto";
import {
  ADDRESS_ANNOTATION,
  type ObjectMeta,
  objectKey,
  POOL_ANNOTATION,
  type Pool,
  type PoolStatus,
} from "../../model/resource.ts";
import type { ClusterEvent, ClusterWriter, LeaseRecord } from "../../ports/cluster.ts";
import { RESOURCES, resourcePath } from "./call.ts";
import { KubeClusterReader } from "./cluster-reader.ts";
import { encodeEvent } from "./encode-event.ts";
import type { WriteAccess } from "./write-access.ts";
import { createLease, replaceLease } from "./write-lease.ts";
import { patchPoolStatus, setPoolFinalizer } from "./write-pool.ts";

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
    return await patchPoolStatus(this.#access, meta, status);
  }

  async setPoolFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<Pool> {
    return await setPoolFinalizer(this.#access, meta, isPresent);
  }

  async annotateNode(
    name: string,
    annotations: { readonly address: string | null; readonly pool: string | null },
  ): Promise<void> {
    const wanted = { [ADDRESS_ANNOTATION]: annotations.address, [POOL_ANNOTATION]: annotations.pool };
    await this.#access.write({
      method: "PATCH",
      path: resourcePath(RESOURCES.nodes, { name }),
      verb: "patch",
      resource: RESOURCES.nodes,
      subject: name,
      body: { metadata: { annotations: wanted } },
    });
  }

  async createEvent(event: ClusterEvent): Promise<void> {
    const { meta } = event.regarding;
    const stamp = {
      eventTimeMs: this.now(),
      reportingInstance: this.#reportingInstance,
      suffix: randomBytes(8).toString("hex"),
    };
    await this.#access.write({
      method: "POST",
      path: resourcePath(RESOURCES.events, { namespace: meta.namespace }),
      verb: "create",
      resource: RESOURCES.events,
      subject: objectKey(meta),
      body: encodeEvent(event, stamp),
    });
  }

  async createLease(lease: Omit<LeaseRecord, "resourceVersion">): Promise<LeaseRecord> {
    return await createLease(this.#access, lease);
  }

  async replaceLease(lease: LeaseRecord): Promise<LeaseRecord> {
    return await replaceLease(this.#access, lease);
  }
}
