import type { SandboxReply, SandboxRequest } from "../http-server.ts";
import type { Deleted, DeleteOptions, KubernetesAPI, Written } from "./kubernetes-api.ts";
import { listObjects, watchObjects } from "./lists.ts";
import { isObject, type JSONObject, keyOf, textAt, valueAt } from "./object-store.ts";
import { apiVersionOf, BUILT_IN, type ResourceType } from "./resource-types.ts";
import { methodNotAllowed, StatusError, unsupportedMediaType } from "./status-error.ts";

interface Call {
  readonly api: KubernetesAPI;
  readonly request: SandboxRequest;
  readonly type: ResourceType;
  readonly target: RequestTarget;
  readonly bookmarkMs: number;
}

/**
 * Answers one HTTP request as kube-apiserver does. There is no discovery and no dry run. Whoever reaches the
 * sandbox may do everything in it, and reviews of access say so; a fault with status 403 stands for a missing permission.
 * @throws StatusError for every refusal
 */
export function handleRequest(api: KubernetesAPI, request: SandboxRequest, bookmarkMs: number): SandboxReply {
  if (request.path === "/version" && request.method === "GET") return { status: 200, body: VERSION };
  if (request.path === REVIEWS && request.method === "POST") return { status: 201, body: reviewed(request.body) };
  const target = requestTarget(request.path);
  const type = target && api.types.byPlural(target.group, target.version, target.plural);
  if (target === undefined || type === undefined || isMisplaced(type, target)) return unknownPath(request.path);
  const call = { api, request, type, target, bookmarkMs };
  return target.name === undefined ? onCollection(call) : onObject(call, target.name);
}

/** The version whose answers the sandbox gives. */
const VERSION = { major: "1", minor: "35", gitVersion: "v1.35.4" };

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** Everybody may do everything. */
function reviewed(review: unknown): JSONObject {
  return { ...(isObject(review) ? review : {}), status: { allowed: true } };
}

/** True for a path that names a resource which is served, but not there. */
function isMisplaced(type: ResourceType, { namespace, name, subresource }: RequestTarget): boolean {
  if (subresource !== undefined && !(subresource === "status" && type.hasStatus)) return true;
  if (namespace !== undefined) return !type.isNamespaced;
  return name !== undefined && type.isNamespaced;
}

/** Of its own groups the server knows what they lack; elsewhere nobody answers for the path. */
function unknownPath(path: string): SandboxReply {
  if (BUILT_IN.some((type) => path.startsWith(`/${type.group === "" ? "api" : "apis"}/${apiVersionOf(type)}/`)))
    throw new StatusError(404, "NotFound", "the server could not find the requested resource");
  return { status: 404, body: "404 page not found\n", contentType: "text/plain; charset=utf-8" };
}

function onCollection(call: Call): SandboxReply {
  const { api, request, type, target, bookmarkMs } = call;
  const { query } = request;
  switch (request.method) {
    case "GET": {
      const isWatch = ["true", "1"].includes(query.get("watch") ?? "");
      if (!isWatch) return { status: 200, body: listObjects(api, type, target.namespace, query) };
      const stream = watchObjects(api, { type, namespace: target.namespace, query, bookmarkMs });
      return { status: 200, contentType: "application/json", stream };
    }
    case "POST": {
      if (type.isNamespaced && target.namespace === undefined) throw methodNotAllowed();
      requireJSON(request);
      return written(api.create(type, target.namespace, request.body));
    }
    default:
      throw methodNotAllowed();
  }
}

function onObject({ api, request, type, target }: Call, name: string): SandboxReply {
  const key = keyOf({ name, namespace: target.namespace });
  const part = target.subresource === undefined ? {} : ({ subresource: "status" } as const);
  switch (request.method) {
    case "GET":
      return { status: 200, body: api.get(type, key) };
    case "PUT":
      requireJSON(request);
      return written(api.update(type, key, request.body, part));
    case "PATCH":
      requireJSON(request);
      return written(api.patch(type, key, request.body, part));
    case "DELETE":
      if (target.subresource !== undefined) throw methodNotAllowed();
      return { status: 200, body: deletedDocument(type, api.remove(type, key, deleteOptions(request))) };
    default:
      throw methodNotAllowed();
  }
}

function written({ object, isNew, warnings }: Written): SandboxReply {
  // One header line can hold several warnings, joined by commas.
  const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ");
  return { status: isNew ? 201 : 200, body: object, ...(warning === "" ? {} : { headers: { Warning: warning } }) };
}

/** Resources whose DELETE answers the object even when it is gone. */
const ANSWERED_WITH_OBJECT = ["Pod", "Service"];

function deletedDocument(type: ResourceType, { isGone, object }: Deleted): JSONObject {
  if (!isGone || ANSWERED_WITH_OBJECT.includes(type.kind)) return object;
  const { name, uid } = object.metadata;
  const group = type.group === "" ? {} : { group: type.group };
  const details = { name, ...group, kind: type.plural, uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

/** What a URL of the API is about. */
interface RequestTarget {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Absent for cluster-scoped resources and for lists over all namespaces. */
  readonly namespace?: string;
  /** Absent for lists and POST. */
  readonly name?: string;
  readonly subresource?: string;
}

/** Subresources of a namespace itself; every other segment after its name is a resource in it. */
const NAMESPACE_SUBRESOURCES = ["status", "finalize"];

/** Reads `/api/v1/…` and `/apis/GROUP/VERSION/…`; undefined for every other path. Pure. */
function requestTarget(path: string): RequestTarget | undefined {
  const match = /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)\/(?<rest>[^/].*?)\/?$/.exec(path)?.groups;
  if (match === undefined) return undefined;
  const { group = "", version = "" } = match;
  const rest = (match["rest"] ?? "").split("/");
  const inner = rest[2];
  const isScoped = rest[0] === "namespaces" && inner !== undefined && !NAMESPACE_SUBRESOURCES.includes(inner);
  const [plural = "", name, subresource, ...beyond] = isScoped ? rest.slice(2) : rest;
  if (beyond.length > 0) return undefined;
  return {
    group,
    version,
    plural,
    ...(isScoped ? { namespace: rest[1] ?? "" } : {}),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** Refuses a body that is no JSON, and every patch but a JSON merge patch. @throws StatusError 415 */
function requireJSON({ method, headers }: SandboxRequest): void {
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
  const wanted = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  if (type === wanted || (type === "" && method !== "PATCH")) return;
  throw unsupportedMediaType(`the sandbox does not read ${type}: send ${wanted}`);
}

/** Reads the parameters of a DELETE from the query and the body. */
function deleteOptions({ query, body }: SandboxRequest): DeleteOptions {
  const grace = query.get("gracePeriodSeconds") ?? valueAt(body, "gracePeriodSeconds") ?? undefined;
  const uid = textAt(body, "preconditions", "uid");
  const resourceVersion = textAt(body, "preconditions", "resourceVersion");
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
    preconditions: { ...(uid === "" ? {} : { uid }), ...(resourceVersion === "" ? {} : { resourceVersion }) },
  };
}
