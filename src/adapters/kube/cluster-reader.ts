import { KubeError } from "../../model/errors.ts";
import type { NodeFacts, PodFacts, PodSelector } from "../../model/node.ts";
import { compareText, type ObjectMeta, objectKey, type Pool, type RecordSet } from "../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../model/routed-ip.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../../model/service.ts";
import type { ClusterReader, LeaseRecord, NamespaceReader } from "../../ports/cluster.ts";
import { type Call, type Connection, optional, RESOURCES, resourcePath } from "./call.ts";
import { decodeEndpointSlice, decodeNode, decodePod, decodeService, SERVICE_NAME_LABEL } from "./decode-builtin.ts";
import { CUSTOM_RESOURCES, type ReadableResource } from "./decode-custom.ts";
import { answerJSON, malformed } from "./failures.ts";
import { decodeLease } from "./lease.ts";
import { type ListRequest, listObjects, type PageSource } from "./lists.ts";
import { ENDPOINT_SLICE_FIELDS, NODE_FIELDS, POD_FIELDS, SERVICE_FIELDS } from "./protobuf-fields.ts";
import { Transport, type TransportOptions } from "./transport.ts";

/**
 * A reader of the connection's cluster: no write method, and whatever it is made to send leaves as a GET without a body. No
 * call is made before its first method is called. `close` lets idle connections go.
 */
export function createClusterReader(
  connection: Connection,
  options: TransportOptions,
): ClusterReader & NamespaceReader & { readonly close: () => void } {
  const transport = new Transport(connection, options);
  return new KubeClusterReader({
    connection,
    send: ({ path, verb, resource, subject, accept }) =>
      transport.send({ method: "GET", path, verb, resource, subject, ...optional("accept", accept) }),
    nowMs: () => transport.nowMs(),
    close: () => transport.close(),
  });
}

/** What a reader is built from: it can send GETs, and nothing else. */
export interface ReadAccess extends PageSource {
  readonly nowMs: () => number;
  readonly close: () => void;
  /** Shown the `meta` of every custom object as decoded, with the object it came from. */
  readonly onObject?: (meta: ObjectMeta, object: unknown) => void;
  /** Shown every Lease as decoded, with the object it came from. */
  readonly onLease?: (lease: LeaseRecord, object: unknown) => void;
}

type CustomObject = { readonly meta: ObjectMeta };

/** A {@link ClusterReader} over HTTP. It has no method that writes, and holds nothing that could. */
export class KubeClusterReader implements ClusterReader, NamespaceReader {
  readonly server: string;
  readonly #access: ReadAccess;

  constructor(access: ReadAccess) {
    this.server = access.connection.server;
    this.#access = access;
  }

  now(): number {
    return this.#access.nowMs();
  }

  /** Closes idle connections, so that nothing of this reader is left; it stays usable. */
  close(): void {
    this.#access.close();
  }

  async listPools(): Promise<readonly Pool[]> {
    return await this.#listCustom(CUSTOM_RESOURCES.pools);
  }

  async listRecordSets(): Promise<readonly RecordSet[]> {
    return await this.#listCustom(CUSTOM_RESOURCES.recordSets);
  }

  async listRoutedIPs(): Promise<readonly RoutedIP[]> {
    return await this.#listCustom(CUSTOM_RESOURCES.routedIPs);
  }

  async listRoutedIPIssuers(): Promise<readonly RoutedIPIssuer[]> {
    return await this.#listCustom(CUSTOM_RESOURCES.issuers);
  }

  async listServices(): Promise<readonly ServiceFacts[]> {
    const { items } = await listObjects(this.#access, SERVICES_REQUEST);
    return items.sort(byPlace);
  }

  async listEndpointSlices(service: ServicePlace): Promise<readonly EndpointSliceFacts[]> {
    return (await listObjects(this.#access, endpointSlicesRequest(service))).items;
  }

  async listNodes(): Promise<readonly NodeFacts[]> {
    const { items } = await listObjects(this.#access, NODES_REQUEST);
    return items.sort((a, b) => compareText(a.name, b.name));
  }

  async listPods(selector: PodSelector): Promise<readonly PodFacts[]> {
    return (await listObjects(this.#access, podsRequest(selector))).items;
  }

  async readPool(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<Pool | undefined> {
    return await this.#readCustom(CUSTOM_RESOURCES.pools, meta);
  }

  async readRecordSet(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<RecordSet | undefined> {
    return await this.#readCustom(CUSTOM_RESOURCES.recordSets, meta);
  }

  async readRoutedIP(meta: Pick<ObjectMeta, "namespace" | "name">): Promise<RoutedIP | undefined> {
    return await this.#readCustom(CUSTOM_RESOURCES.routedIPs, meta);
  }

  async readNode(name: string): Promise<NodeFacts | undefined> {
    const path = resourcePath(RESOURCES.nodes, { name });
    return await this.#read({ method: "GET", path, verb: "get", resource: RESOURCES.nodes, subject: name }, decodeNode);
  }

  async hasNamespace(name: string): Promise<boolean | undefined> {
    const path = resourcePath(RESOURCES.namespaces, { name });
    const call: Call = { method: "GET", path, verb: "get", resource: RESOURCES.namespaces, subject: name };
    try {
      await this.#access.send(call);
      return true;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return error.failure === "not-found" ? false : undefined;
    }
  }

  async readPodsOn(selector: PodSelector, nodeName: string): Promise<readonly PodFacts[]> {
    return (await listObjects(this.#access, podsRequest(selector, nodeName))).items;
  }

  async readEndpointSlices(service: ServicePlace): Promise<readonly EndpointSliceFacts[]> {
    return (await listObjects(this.#access, endpointSlicesRequest(service))).items;
  }

  async readLease(namespace: string, name: string): Promise<LeaseRecord | undefined> {
    const path = resourcePath(RESOURCES.leases, { namespace, name });
    const subject = `${namespace}/${name}`;
    const call: Call = { method: "GET", path, verb: "get", resource: RESOURCES.leases, subject };
    return await this.#read(call, (object) => {
      const lease = decodeLease(object);
      if (lease !== undefined) this.#access.onLease?.(lease, object);
      return lease;
    });
  }

  /** Every object of a kind, sorted by namespace and name. */
  async #listCustom<T extends CustomObject>({ resource, decode }: ReadableResource<T>): Promise<readonly T[]> {
    const path = resourcePath(resource);
    const request = { resource, path, project: (one: unknown) => this.#note(decode(one), one) };
    const { items } = await listObjects(this.#access, request);
    return items.sort((a, b) => byPlace(a.meta, b.meta));
  }

  async #readCustom<T extends CustomObject>(
    { resource, decode }: ReadableResource<T>,
    meta: Pick<ObjectMeta, "namespace" | "name">,
  ): Promise<T | undefined> {
    const path = resourcePath(resource, { namespace: meta.namespace, name: meta.name });
    const call: Call = { method: "GET", path, verb: "get", resource, subject: objectKey(meta) };
    return await this.#read(call, (object) => this.#note(decode(object), object));
  }

  #note<T extends CustomObject>(decoded: T | undefined, object: unknown): T | undefined {
    if (decoded !== undefined) this.#access.onObject?.(decoded.meta, object);
    return decoded;
  }

  /** One object; undefined when the server does not have it. */
  async #read<T>(call: Call, decode: (object: unknown) => T | undefined): Promise<T | undefined> {
    try {
      const answer = await this.#access.send(call);
      const decoded = decode(answerJSON(call, answer, this.#access.connection));
      if (decoded !== undefined) return decoded;
      throw malformed(call, this.#access.connection, { status: answer.status, why: "the answer is not the object" });
    } catch (error) {
      if (error instanceof KubeError && error.failure === "not-found") return undefined;
      throw error;
    }
  }
}

function byPlace(a: ServicePlace, b: ServicePlace): number {
  return compareText(a.namespace, b.namespace) || compareText(a.name, b.name);
}

/** Where a Service is. */
export type ServicePlace = Pick<ServiceFacts, "namespace" | "name">;

/** Finished pods run nothing and explain nothing; the server leaves them out. */
const UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed";

/** The list of all nodes. */
export const NODES_REQUEST: ListRequest<NodeFacts> = {
  resource: RESOURCES.nodes,
  path: resourcePath(RESOURCES.nodes),
  fields: NODE_FIELDS,
  project: decodeNode,
  // Every five minutes each node reports that all is as it was.
  atVersion: (node, resourceVersion) => ({ ...node, resourceVersion }),
};

/** The list of all Services. */
export const SERVICES_REQUEST: ListRequest<ServiceFacts> = {
  resource: RESOURCES.services,
  path: resourcePath(RESOURCES.services),
  fields: SERVICE_FIELDS,
  project: decodeService,
};

/** The list of a selector's pods that are bound to a node (or to this one) and not finished. Pure. */
export function podsRequest({ namespace, label }: PodSelector, nodeName?: string): ListRequest<PodFacts> {
  const fieldSelector = nodeName === undefined ? UNFINISHED : `${UNFINISHED},spec.nodeName=${nodeName}`;
  return {
    resource: RESOURCES.pods,
    path: resourcePath(RESOURCES.pods, { namespace }),
    query: { fieldSelector, ...(label === "" ? {} : { labelSelector: label }) },
    fields: POD_FIELDS,
    project: decodePod,
  };
}

/** The list of the EndpointSlices of a Service, by the name that an existing Service has. Pure. */
export function endpointSlicesRequest({ namespace, name }: ServicePlace): ListRequest<EndpointSliceFacts> {
  return {
    resource: RESOURCES.endpointSlices,
    path: resourcePath(RESOURCES.endpointSlices, { namespace }),
    query: { labelSelector: `${SERVICE_NAME_LABEL}=${name}` },
    fields: ENDPOINT_SLICE_FIELDS,
    project: decodeEndpointSlice,
  };
}
