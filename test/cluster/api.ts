// What a test does to a cluster as its administrator, or as an account by its token.
import { randomBytes } from "node:crypto";
import { Applier } from "./apply.ts";
import {
  type NodeOptions,
  nodeBody,
  nodeReadyCondition,
  now,
  type PodOptions,
  podBody,
  podStatus,
  type Readiness,
} from "./objects.ts";
import { type KubeObject, type Reply, Transport, type TransportOptions } from "./transport.ts";

const mergePatch = "application/merge-patch+json";
// Merges lists of conditions by their type, so that one can be changed without knowing the others.
const strategicMergePatch = "application/strategic-merge-patch+json";

/** A helper met a refusal; `status` is the HTTP status, `body` the `Status` object of the server. */
export class APIError extends Error {
  override readonly name = "APIError";
  readonly status: number;
  readonly body: KubeObject;

  constructor(subject: string, { status, body }: Reply<KubeObject>) {
    super(`${subject}: ${status} ${body.message ?? JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
  }
}

/** A raw client. `request` never throws for a status; the helpers throw `APIError`. */
export class API {
  readonly #transport: Transport;
  readonly #applier: Applier;

  constructor(options: TransportOptions) {
    this.#transport = new Transport(options);
    this.#applier = new Applier(
      async (method, path, body, contentType) => await this.call(method, path, body, contentType),
    );
  }

  /** Sends one request and returns status and body; `T` is what the caller knows the body to be. */
  async request<T = KubeObject>(
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
    accept?: string,
  ): Promise<Reply<T>> {
    return await this.#transport.send<T>(method, path, body, contentType, accept);
  }

  /**
   * Sends one request and returns the body.
   * @throws APIError when the status is 400 or more.
   */
  async call<T = KubeObject>(method: string, path: string, body?: unknown, contentType?: string): Promise<T> {
    const reply = await this.request<T>(method, path, body, contentType);
    if (reply.status >= 400) throw new APIError(`${method} ${path}`, reply as Reply<KubeObject>);
    return reply.body;
  }

  /** Returns all items of a collection, following its pages when `path` sets a `limit`. */
  async list<T = KubeObject>(path: string): Promise<T[]> {
    const items: T[] = [];
    let next: string | undefined = path;
    while (next !== undefined) {
      const page: { items: T[]; metadata: { continue?: string } } = await this.call("GET", next);
      items.push(...page.items);
      const token = page.metadata.continue;
      const separator = path.includes("?") ? "&" : "?";
      next = token ? `${path}${separator}continue=${encodeURIComponent(token)}` : undefined;
    }
    return items;
  }

  /**
   * Applies every document of a YAML text in its order, server-side, with field manager `test` and force; returns the
   * objects as stored. Any kind the server knows will do. Objects without a namespace go to `options.namespace`, or
   * "default". After a CustomResourceDefinition it waits until the resource is really served.
   */
  async applyManifests(yamlText: string, options: { readonly namespace?: string } = {}): Promise<KubeObject[]> {
    return await this.#applier.apply(yamlText, options.namespace ?? "default");
  }

  /** Creates a namespace of its own for a test and returns its name. It can never be removed: nothing finalises it. */
  async createNamespace(prefix: string): Promise<string> {
    const name = `${prefix}-${randomBytes(4).toString("hex")}`;
    await this.call("POST", "/api/v1/namespaces", { metadata: { name } });
    return name;
  }

  /** Creates a node that has exactly the given taints: admission adds not-ready to every new node, so it is removed. */
  async createNode(options: NodeOptions): Promise<KubeObject> {
    await this.call("POST", "/api/v1/nodes", nodeBody(options));
    return await this.setNodeTaints(options.name, options.taints ?? []);
  }

  /** Replaces the taints of a node. */
  async setNodeTaints(name: string, taints: NonNullable<NodeOptions["taints"]>): Promise<KubeObject> {
    const body = { spec: { taints: taints.length === 0 ? null : taints } };
    return await this.call("PATCH", `/api/v1/nodes/${name}`, body, mergePatch);
  }

  /** Replaces labels of a node by merge: `null` removes one. */
  async setNodeLabels(name: string, labels: Record<string, string | null>): Promise<KubeObject> {
    return await this.call("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels } }, mergePatch);
  }

  /** Sets the condition `Ready` of a node; the time of the change is now unless given. */
  async setNodeReady(name: string, ready: Readiness, lastTransitionTime: string = now()): Promise<KubeObject> {
    const body = { status: { conditions: [nodeReadyCondition(ready, lastTransitionTime)] } };
    return await this.call("PATCH", `/api/v1/nodes/${name}/status`, body, strategicMergePatch);
  }

  /** Deletes a node; it is gone at once. No effect when there is none. */
  async deleteNode(name: string): Promise<void> {
    await this.#delete(`/api/v1/nodes/${name}`);
  }

  /** Creates a pod that runs on its node, ready unless told otherwise; without a node it stays Pending. */
  async createPod(options: PodOptions): Promise<KubeObject> {
    const pod = await this.call("POST", `/api/v1/namespaces/${options.namespace}/pods`, podBody(options));
    return options.nodeName === undefined ? pod : await this.setPodReady({ ready: true, ...options });
  }

  /** Sets phase Running and the condition `Ready` of a pod. */
  async setPodReady(pod: { namespace: string; name: string; ready: boolean }): Promise<KubeObject> {
    const path = `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}/status`;
    return await this.call("PATCH", path, { status: podStatus(pod.ready) }, strategicMergePatch);
  }

  /**
   * Deletes a pod. One with a node stays terminating for ever, as under a kubelet that never answers; `force` finishes
   * it, also later. No effect when there is none.
   */
  async deletePod({
    namespace,
    name,
    force = false,
  }: {
    namespace: string;
    name: string;
    force?: boolean;
  }): Promise<void> {
    await this.#delete(`/api/v1/namespaces/${namespace}/pods/${name}${force ? "?gracePeriodSeconds=0" : ""}`);
  }

  /** Returns a bearer token of a service account that exists, valid for an hour. */
  async serviceAccountToken(namespace: string, name: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
    const answer = await this.call<{ status: { token: string } }>("POST", path, body);
    return answer.status.token;
  }

  /** Closes the idle connections. Not needed at the end of a process. */
  close(): void {
    this.#transport.close();
  }

  async #delete(path: string): Promise<void> {
    const reply = await this.request("DELETE", path);
    if (reply.status >= 400 && reply.status !== 404) throw new APIError(`DELETE ${path}`, reply);
  }
}
