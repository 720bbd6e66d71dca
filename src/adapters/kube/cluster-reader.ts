import type { PastEvent } from "../../model/change.ts";
import { KubeError } from "../../model/errors.ts";
import type { NamespaceGrants } from "../../model/grants.ts";
import type { NodeFacts, PodFacts, PodSelector } from "../../model/node.ts";
import { compareText, type ObjectMeta, objectKey, type Pool, type RecordSet } from "../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../model/routed-ip.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../../model/service.ts";
import type { Workload } from "../../model/workload.ts";
import type {
  ClusterReader,
  EventReader,
  IdentityReader,
  LeaseRecord,
  NamespaceReader,
  Overlay,
  PodLabelReader,
  WorkloadReader,
} from "../../ports/cluster.ts";
import { within } from "../../ports/system.ts";
import { type ReadAccess, readAccess } from "./access.ts";
import { type Call, type Connection, named, optional, RESOURCES, type Resource, resourcePath } from "./call.ts";
import { CUSTOM_RESOURCES, type ReadableResource } from "./custom-resources.ts";
import { eventsRequest } from "./events.ts";
import { answerJSON, malformed } from "./failures.ts";
import { asFlag, asList, asNumber, asRecord, asText } from "./json.ts";
import { decodeLease } from "./lease.ts";
import { type ListRequest, listObjects, type PagedRequest } from "./lists.ts";
import { decodeMeta } from "./metadata.ts";
import { NAMESPACES_REQUEST } from "./namespace.ts";
import { decodeNode, NODES_REQUEST } from "./node.ts";
import { podLabelsRequest, podsRequest } from "./pod.ts";
import { endpointSlicesRequest, SERVICES_REQUEST, type ServicePlace } from "./service.ts";
import { Transport, type TransportOptions } from "./transport.ts";

/**
 * A reader of the connection's cluster: no write method, and whatever it is made to send leaves as a GET without a body. No
 * call is made before its first method is called. `close` lets idle connections go.
 */
export function createClusterReader(
  connection: Connection,
  { overlay, ...options }: TransportOptions & { readonly overlay?: Overlay },
): ClusterReader &
  NamespaceReader &
  IdentityReader &
  EventReader &
  PodLabelReader &
  WorkloadReader & { readonly close: () => void } {
  const transport = new Transport(connection, options);
  return new KubeClusterReader({ ...readAccess(transport), ...optional("overlay", overlay) });
}

/** A node that was not read so soon, milliseconds, is listed, too. */
const NODE_PATIENCE_MS = 1000;

/** A {@link ClusterReader} over HTTP. It has no method that writes, and holds nothing that could. */
export class KubeClusterReader
  implements ClusterReader, NamespaceReader, IdentityReader, EventReader, PodLabelReader, WorkloadReader
{
  readonly server: string;
  /** For texts: `context "admin" of /home/me/.kube/config`. */
  readonly source: string;
  readonly #access: ReadAccess;

  constructor(access: ReadAccess) {
    this.server = access.connection.server;
    this.source = access.connection.source;
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

  async listNamespaceGrants(): Promise<readonly NamespaceGrants[]> {
    return await this.items(NAMESPACES_REQUEST);
  }

  async listServices(): Promise<readonly ServiceFacts[]> {
    return await this.items(SERVICES_REQUEST);
  }

  async listEndpointSlices(service: ServicePlace): Promise<readonly EndpointSliceFacts[]> {
    return await this.items(endpointSlicesRequest(service));
  }

  async listNodes(): Promise<readonly NodeFacts[]> {
    return await this.items(NODES_REQUEST);
  }

  async listPods(selector: PodSelector): Promise<readonly PodFacts[]> {
    return await this.items(podsRequest(selector));
  }

  async listPodLabels(namespace: string): Promise<readonly Readonly<Record<string, string>>[]> {
    return (await listObjects(this.#access, podLabelsRequest(namespace))).items;
  }

  /** What a list holds, sorted as it asks. Who keeps lists in memory answers from there. */
  protected async items<T>(request: ListRequest<T>): Promise<readonly T[]> {
    const { items } = await listObjects(this.#access, request);
    return request.order === undefined ? items : items.sort(request.order);
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
    const read = this.#read(RESOURCES.nodes, { name }, decodeNode);
    const answer = await within(this.#access.clock, NODE_PATIENCE_MS, read).catch((error: unknown) => {
      // A name that no node can have is in no list either.
      if (error instanceof KubeError && error.failure !== "invalid") return "late" as const;
      throw error;
    });
    return answer === "late" ? await Promise.any([read, this.#listedNode(name)]).catch(() => read) : answer;
  }

  /** The node as a list of this one node has it: a failover must not wait for a request that the server answers for no other node. */
  async #listedNode(name: string): Promise<NodeFacts | undefined> {
    const { items } = await listObjects(this.#access, { ...NODES_REQUEST, query: named(name) });
    return items.find((node) => node.name === name);
  }

  async readPodsOn(selector: PodSelector, nodeName: string): Promise<readonly PodFacts[]> {
    return (await listObjects(this.#access, podsRequest(selector, nodeName))).items;
  }

  async readEndpointSlices(service: ServicePlace): Promise<readonly EndpointSliceFacts[]> {
    return (await listObjects(this.#access, endpointSlicesRequest(service))).items;
  }

  async readLease(namespace: string, name: string): Promise<LeaseRecord | undefined> {
    return await this.#read(RESOURCES.leases, { namespace, name }, (object) => {
      const lease = decodeLease(object);
      if (lease !== undefined) this.#access.seen?.addLease(lease, object);
      return lease;
    });
  }

  async listEvents(namespace?: string): Promise<readonly PastEvent[]> {
    return (await listObjects(this.#access, eventsRequest(namespace))).items;
  }

  async listWorkloads(namespace: string): Promise<readonly Workload[]> {
    const lists = WORKLOADS.map(async (kind) => await listObjects(this.#access, workloadsRequest(kind, namespace)));
    return (await Promise.all(lists)).flatMap(({ items }) => items);
  }

  async hasNamespace(name: string): Promise<boolean | undefined> {
    try {
      await this.#access.send(getCall(RESOURCES.namespaces, { name }));
      return true;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return error.failure === "not-found" ? false : undefined;
    }
  }

  async clusterUID(): Promise<string> {
    const { namespaces: resource } = RESOURCES;
    const path = `${resourcePath(resource)}?${new URLSearchParams(named(SYSTEM_NAMESPACE))}`;
    const call: Call = { method: "GET", path, verb: "list", resource, subject: "" };
    const answer = await this.#access.send(call);
    const { connection } = this.#access;
    const [namespace] = asList(asRecord(answerJSON(call, answer, connection))?.["items"]);
    const uid = decodeMeta(namespace)?.uid ?? "";
    if (uid !== "") return uid;
    throw malformed(call, connection, {
      status: answer.status,
      why: `it does not show the namespace ${SYSTEM_NAMESPACE}`,
    });
  }

  #requestOf<T extends CustomObject>(kind: ReadableResource<T>): ListRequest<T> {
    return {
      kind: kind.kind,
      resource: kind.resource,
      rules: kind.rules,
      path: resourcePath(kind.resource),
      project: (object) => this.#decode(kind, object),
      order: byPlace,
    };
  }

  async #listCustom<T extends CustomObject>(kind: ReadableResource<T>): Promise<readonly T[]> {
    const stored = await this.items(this.#requestOf(kind));
    const fresh = this.#fresh(kind).filter(({ meta }) => !stored.some((one) => isSameObject(one.meta, meta)));
    return fresh.length === 0 ? stored : [...stored, ...fresh].sort(byPlace);
  }

  async #readCustom<T extends CustomObject>(
    kind: ReadableResource<T>,
    { namespace, name }: Pick<ObjectMeta, "namespace" | "name">,
  ): Promise<T | undefined> {
    const isWhole = this.#access.overlay === undefined;
    const stored = await this.#read(kind.resource, { namespace, name }, (object) => {
      const decoded = this.#decode(kind, object);
      return decoded === undefined && isWhole ? undefined : { decoded };
    });
    if (stored !== undefined) return stored.decoded;
    return this.#fresh(kind).find(({ meta }) => isSameObject(meta, { namespace, name }));
  }

  #fresh<T extends CustomObject>({ kind, decode }: ReadableResource<T>): readonly T[] {
    const of = OVERLAID[kind];
    const { overlay } = this.#access;
    return of === undefined || overlay === undefined ? [] : overlay.fresh(of, decode, this.now());
  }

  #decode<T extends CustomObject>({ kind, decode }: ReadableResource<T>, object: unknown): T | undefined {
    const { overlay } = this.#access;
    const of = OVERLAID[kind];
    const isLaid = overlay !== undefined && of !== undefined;
    const decoded = isLaid ? overlay.seen(of, object, decode, this.now()) : decode(object);
    if (decoded !== undefined) this.#access.seen?.add(decoded.meta, object);
    return decoded;
  }

  /** One object; undefined when the server does not have it. */
  async #read<T>(
    resource: Resource,
    place: { readonly namespace?: string; readonly name: string },
    decode: (object: unknown) => T | undefined,
  ): Promise<T | undefined> {
    const call = getCall(resource, place);
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

const WORKLOADS = ["CronJob", "Deployment"] as const;

/** The label that the shipped manifests put on everything. */
export const PART_OF = "app.kubernetes.io/part-of";

function workloadsRequest(kind: Workload["kind"], namespace: string): PagedRequest<Workload> {
  const { cronJobs, deployments } = RESOURCES;
  const resource = kind === "CronJob" ? cronJobs : deployments;
  return {
    resource,
    path: resourcePath(resource, { namespace }),
    query: { labelSelector: `${PART_OF}=flipop` },
    project: (item) => decodeWorkload(kind, item),
  };
}

function decodeWorkload(kind: Workload["kind"], item: unknown): Workload | undefined {
  const name = asText(asRecord(asRecord(item)?.["metadata"])?.["name"]);
  const spec = asRecord(asRecord(item)?.["spec"]);
  if (name === undefined || spec === undefined) return undefined;
  const holder = kind === "CronJob" ? asRecord(asRecord(spec["jobTemplate"])?.["spec"]) : spec;
  const pod = asRecord(asRecord(holder?.["template"])?.["spec"]);
  const isSuspended = kind === "CronJob" ? asFlag(spec["suspend"]) === true : asNumber(spec["replicas"]) === 0;
  return {
    kind,
    name,
    isSuspended,
    schedule: asText(spec["schedule"]) ?? "",
    ...optional("timeZone", asText(spec["timeZone"])),
    image: asText(asRecord(asList(pod?.["containers"])[0])?.["image"]) ?? "",
  };
}

/** The namespace that every cluster has from its first day on. */
const SYSTEM_NAMESPACE = "kube-system";

/** Any of flipop's own objects. */
type CustomObject = { readonly meta: ObjectMeta };

/** The lists that objects can be laid over, and how an overlay names their kind. */
const OVERLAID: Partial<Record<ListRequest<unknown>["kind"], "pool" | "dns" | "routedip" | "issuer">> = {
  pool: "pool",
  "record-set": "dns",
  "routed-ip": "routedip",
  issuer: "issuer",
};

function byPlace({ meta: a }: CustomObject, { meta: b }: CustomObject): number {
  return compareText(a.namespace, b.namespace) || compareText(a.name, b.name);
}

function isSameObject(a: Pick<ObjectMeta, "namespace" | "name">, b: Pick<ObjectMeta, "namespace" | "name">): boolean {
  return objectKey(a) === objectKey(b);
}

/** Asks for one object. */
function getCall(resource: Resource, place: { readonly namespace?: string; readonly name: string }): Call {
  const { namespace, name } = place;
  const subject = namespace === undefined ? name : objectKey({ namespace, name });
  return { method: "GET", path: resourcePath(resource, place), verb: "get", resource, subject };
}
