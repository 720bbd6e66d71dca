import { type ObjectRef, refKey } from "../../model/action.ts";
import { KubeError } from "../../model/errors.ts";
import type { AnnotatableCluster, AnnotationChanges } from "../../ports/cluster.ts";
import { readAccess } from "./access.ts";
import { type Call, type Connection, RESOURCES, type Resource, resourcePath } from "./call.ts";
import { KubeClusterReader } from "./cluster-reader.ts";
import { encodeLease } from "./lease.ts";
import { Transport, type TransportOptions } from "./transport.ts";

/** Returns a reader of the connection's cluster that may also write annotations. It makes no call before its first method is called. `close` lets idle connections go. */
export function createAnnotator(
  connection: Connection,
  options: TransportOptions,
): AnnotatableCluster & { readonly close: () => void } {
  return new KubeAnnotator(new Transport(connection, options));
}

/** Where the objects of each kind are. */
const KINDS: Readonly<Record<ObjectRef["kind"], Resource>> = {
  pool: RESOURCES.pools,
  routedip: RESOURCES.routedIPs,
  dns: RESOURCES.recordSets,
};

class KubeAnnotator extends KubeClusterReader implements AnnotatableCluster {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(readAccess(transport));
    this.#transport = transport;
  }

  async annotateObject(object: ObjectRef, annotations: AnnotationChanges): Promise<void> {
    const { kind, namespace, name } = object;
    await this.#patch(KINDS[kind], { namespace, name, subject: refKey(object) }, annotations);
  }

  async annotateLease(namespace: string, name: string, annotations: AnnotationChanges): Promise<void> {
    try {
      await this.#patch(RESOURCES.leases, { namespace, name, subject: `${namespace}/${name}` }, annotations);
    } catch (error) {
      if (!(error instanceof KubeError) || error.failure !== "not-found") throw error;
      await this.#createLease(namespace, name, annotations);
    }
  }

  async #patch(
    resource: Resource,
    { namespace, name, subject }: { readonly namespace: string; readonly name: string; readonly subject: string },
    annotations: AnnotationChanges,
  ): Promise<void> {
    const call: Call = {
      method: "PATCH",
      path: resourcePath(resource, { namespace, name }),
      verb: "patch",
      resource,
      subject,
      body: { metadata: { annotations } },
    };
    await this.#transport.send(call);
  }

  async #createLease(namespace: string, name: string, annotations: AnnotationChanges): Promise<void> {
    const texts = Object.fromEntries(
      Object.entries(annotations).flatMap(([key, text]) => (text === null ? [] : [[key, text]])),
    );
    if (Object.keys(texts).length === 0) return;
    const free = { holder: "", durationSeconds: 15, acquireTimeMs: 0, renewTimeMs: 0, transitions: 0 };
    const call: Call = {
      method: "POST",
      path: resourcePath(RESOURCES.leases, { namespace }),
      verb: "create",
      resource: RESOURCES.leases,
      subject: `${namespace}/${name}`,
      body: encodeLease({ namespace, name, annotations: texts, ...free }, undefined),
    };
    try {
      await this.#transport.send(call);
    } catch (error) {
      if (!(error instanceof KubeError) || error.failure !== "already-exists") throw error;
      // A run has created it meanwhile.
      await this.#patch(RESOURCES.leases, { namespace, name, subject: call.subject }, annotations);
    }
  }
}
