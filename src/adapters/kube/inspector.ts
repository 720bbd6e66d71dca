import { KubeError } from "../../model/errors.ts";
import { HOST_PODS } from "../../model/host-agent.ts";
import type { LeaseRecord } from "../../ports/cluster.ts";
import type {
  ClusterInspector,
  Definition,
  HostDaemonSet,
  OperatorDeployment,
  Permission,
} from "../../ports/inspection.ts";
import { readAccess } from "./access.ts";
import { type Call, type Connection, named, RESOURCES, type Resource, resourcePath } from "./call.ts";
import { KubeClusterReader, PART_OF } from "./cluster-reader.ts";
import { answerJSON, malformed } from "./failures.ts";
import { asFlag, asList, asNumber, asRecord, asText, asTexts } from "./json.ts";
import { decodeLease } from "./lease.ts";
import type { ListRequest } from "./lists.ts";
import { decodeMeta } from "./metadata.ts";
import { Transport, type TransportOptions } from "./transport.ts";

/**
 * Returns a reader of the connection's cluster that also reads how flipop is installed. It sends GETs, and access reviews, which are POSTs that store nothing. It makes no
 * call before its first method is called. `close` lets idle connections go.
 */
export function createInspector(
  connection: Connection,
  options: TransportOptions,
): ClusterInspector & { readonly close: () => void } {
  return new KubeInspector(new Transport(connection, options));
}

const VERSION: Resource = { group: "", version: "", plural: "version", noun: "version" };
const DEFINITIONS: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  noun: "definition",
};
const REVIEWS: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "selfsubjectaccessreviews",
  noun: "access review",
};
/** The name that the Go operator's manifests give it; those of flipop do, too. */
const OPERATOR_DEPLOYMENT = "flipop";
const DAEMON_SETS: Resource = { group: "apps", version: "v1", plural: "daemonsets", noun: "DaemonSet" };

class KubeInspector extends KubeClusterReader implements ClusterInspector {
  readonly #transport: Transport;
  /** What came of each reading of a run, by what was asked for. */
  readonly #read = new Map<string, Promise<unknown>>();

  constructor(transport: Transport) {
    super(readAccess(transport));
    this.#transport = transport;
  }

  protected override async items<T>(request: ListRequest<T>): Promise<readonly T[]> {
    return await this.#once(JSON.stringify([request.path, request.query]), () => super.items(request));
  }

  override async readLease(namespace: string, name: string): Promise<LeaseRecord | undefined> {
    return await this.#once(JSON.stringify(["lease", namespace, name]), () => super.readLease(namespace, name));
  }

  async readVersion(): Promise<string> {
    const call: Call = { method: "GET", path: "/version", verb: "get", resource: VERSION, subject: "" };
    return this.#readable(call, asText(asRecord(await this.#ask(call))?.["gitVersion"]));
  }

  async readDefinition(name: string): Promise<Definition | undefined> {
    const path = resourcePath(DEFINITIONS, { name });
    try {
      const object = await this.#ask({ method: "GET", path, verb: "get", resource: DEFINITIONS, subject: name });
      const conditions = asList(asRecord(asRecord(object)?.["status"])?.["conditions"]).map(asRecord);
      const isEstablished = conditions.some((one) => one?.["type"] === "Established" && one["status"] === "True");
      return { isEstablished, object };
    } catch (error) {
      if (error instanceof KubeError && error.failure === "not-found") return undefined;
      throw error;
    }
  }

  async listLeases(name: string): Promise<readonly LeaseRecord[]> {
    const path = `${resourcePath(RESOURCES.leases)}?${new URLSearchParams(named(name))}`;
    const items = await this.#list(RESOURCES.leases, path, name);
    return items.flatMap((item) => decodeLease(item) ?? []);
  }

  async listHostDaemonSets(): Promise<readonly HostDaemonSet[]> {
    const path = `${resourcePath(DAEMON_SETS)}?labelSelector=${encodeURIComponent(HOST_PODS.label)}`;
    return (await this.#list(DAEMON_SETS, path, "")).map((item) => {
      const { name = "", namespace = "" } = decodeMeta(item) ?? {};
      const wanted = asNumber(asRecord(asRecord(item)?.["status"])?.["desiredNumberScheduled"]);
      return { namespace, name, wanted: wanted ?? 0 };
    });
  }

  async listOperatorDeployments(): Promise<readonly OperatorDeployment[]> {
    const path = `${resourcePath(RESOURCES.deployments)}?${new URLSearchParams(named(OPERATOR_DEPLOYMENT))}`;
    const items = await this.#list(RESOURCES.deployments, path, OPERATOR_DEPLOYMENT);
    return items.flatMap((item) => decodeOperatorDeployment(item) ?? []);
  }

  async mayDo({ verb, group, resource, subresource, namespace, name }: Permission): Promise<boolean> {
    const resourceAttributes = { verb, group, resource, subresource, namespace, name };
    const call: Call = {
      method: "POST",
      path: resourcePath(REVIEWS),
      verb: "create",
      resource: REVIEWS,
      subject: "",
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes },
      },
    };
    return this.#readable(call, asFlag(asRecord(asRecord(await this.#ask(call))?.["status"])?.["allowed"]));
  }

  /** The answer to the first call with this key, or its failure. */
  #once<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#read.get(key) as Promise<T> | undefined;
    const answer = known ?? read();
    this.#read.set(key, answer);
    return answer;
  }

  async #list(resource: Resource, path: string, subject: string): Promise<readonly unknown[]> {
    const call: Call = { method: "GET", path, verb: "list", resource, subject };
    const items = asRecord(await this.#ask(call))?.["items"];
    return this.#readable(call, Array.isArray(items) ? asList(items) : undefined);
  }

  async #ask(call: Call): Promise<unknown> {
    const answer = await this.#transport.send(call);
    return answerJSON(call, answer, this.#transport.connection);
  }

  #readable<T>(call: Call, value: T | undefined): T {
    if (value !== undefined) return value;
    const why = "the answer is not what was asked for";
    throw malformed(call, this.#transport.connection, { status: 200, why });
  }
}

/** Undefined for one of this flipop: by the label of its manifests, or because it runs `flipop reconcile`, which the Go operator does not know. */
function decodeOperatorDeployment(item: unknown): OperatorDeployment | undefined {
  const { namespace = "", labels = {} } = decodeMeta(item) ?? {};
  const spec = asRecord(asRecord(item)?.["spec"]);
  const pod = asRecord(asRecord(spec?.["template"])?.["spec"]);
  const container = asRecord(asList(pod?.["containers"])[0]);
  const words = [container?.["command"], container?.["args"]].flatMap(asTexts);
  if (labels[PART_OF] === "flipop" || words.includes("reconcile")) return undefined;
  return { namespace, replicas: asNumber(spec?.["replicas"]) ?? 1, image: asText(container?.["image"]) ?? "" };
}
