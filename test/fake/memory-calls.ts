import { type Call, type Connection, qualifiedResource, RESOURCES } from "../../src/adapters/kube/call.ts";
import { callFailure } from "../../src/adapters/kube/failures.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { KubernetesSandbox } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { listObjects } from "../../src/sandbox/kubernetes/lists.ts";
import { arrayAt } from "../../src/sandbox/kubernetes/object-store.ts";
import type { ResourceType } from "../../src/sandbox/kubernetes/resource-types.ts";
import { StatusError } from "../../src/sandbox/kubernetes/status-error.ts";

/** A fault at one call: before its effect, or after it. */
export type ClusterFault = { readonly throw: Error } | { readonly throwAfter: Error };

/** One write that reached the cluster, in order; injected faults included. */
export interface ClusterWrite {
  /** Verb and resource, as in KubeError: `patch floatingippools.flipop.digitalocean.com/status`. */
  readonly operation: string;
  /** `NAMESPACE/NAME`, or a node's name. */
  readonly subject: string;
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

type Facts = Pick<Call, "verb" | "resource" | "subject" | "subresource"> & {
  /** What of the object is written, where the operation does not say. */
  readonly part?: "note";
  /** The namespace of a list, where it has one. */
  readonly place?: string;
};

/** Calls to the emulated Kubernetes API without HTTP: faults, the record of writes, and the adapter's error texts. */
export class MemoryCalls {
  readonly server: string = CONNECTION.server;
  /** The cluster itself, for arranging and changing its objects. */
  readonly sandbox: KubernetesSandbox;
  /** Every write that reached the cluster. */
  readonly writes: ClusterWrite[] = [];
  /** May be exchanged at any time. The subject of a list is its namespace. */
  beforeCall: ((operation: string, subject: string, part?: "note") => ClusterFault | undefined) | undefined;

  constructor(sandbox: KubernetesSandbox) {
    this.sandbox = sandbox;
  }

  /** Every object of a namespace, or of all with `""`, in the server's order. */
  protected list<T>(
    resource: keyof typeof RESOURCES,
    namespace: string,
    query: URLSearchParams,
    decode: (object: unknown) => T | undefined,
  ): readonly T[] {
    const facts = { verb: "list", resource: RESOURCES[resource], subject: "", place: namespace };
    const list = this.call(facts, (type) =>
      listObjects(this.sandbox.api, type, namespace === "" ? undefined : namespace, query),
    );
    return arrayAt(list, "items").flatMap((object) => decode(object) ?? []);
  }

  /** One object; undefined when it does not exist. */
  protected read<T>(
    resource: keyof typeof RESOURCES,
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

  /** What the work answers. @throws KubeError for a refusal */
  protected write<T>(facts: Facts, work: (type: ResourceType) => T): T {
    this.writes.push({ operation: operationOf(facts), subject: facts.subject });
    return this.call(facts, work);
  }

  private call<T>(facts: Facts, work: (type: ResourceType) => T): T {
    const fault = this.beforeCall?.(operationOf(facts), facts.place ?? facts.subject, facts.part);
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
