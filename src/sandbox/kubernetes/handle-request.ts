import type { SandboxReply, SandboxRequest } from "../http-server.ts";
import type { FieldValidation } from "./admission.ts";
import type { Deleted, DeleteOptions, KubernetesAPI, WriteOptions, Written } from "./kubernetes-api.ts";
import { listObjects, objectFilter, watchObjects } from "./lists.ts";
import {
  arrayAt,
  isObject,
  type JSONObject,
  type KubeObject,
  keyOf,
  objectAt,
  storeKey,
  textAt,
  valueAt,
} from "./object-store.ts";
import { apiVersionOf, BUILT_IN, discoveryDocument, type ResourceType } from "./resource-types.ts";
import { badRequest, methodNotAllowed, StatusError, unsupportedMediaType } from "./status-error.ts";

interface Call {
  readonly api: KubernetesAPI;
  readonly request: SandboxRequest;
  readonly type: ResourceType;
  readonly target: RequestTarget;
  readonly bookmarkMs: number;
}

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** Answers one HTTP request as kube-apiserver does. @throws StatusError for every refusal */
export function handleRequest(api: KubernetesAPI, request: SandboxRequest, bookmarkMs: number): SandboxReply {
  if (request.path === REVIEWS && request.method === "POST") return reviewAccess(request.body);
  const document = discoveryDocument(request.path.replace(/(.)\/$/, "$1"), api.types.all());
  if (document !== undefined && request.method === "GET") {
    return { status: 200, body: document, ...(typeof document === "string" ? { contentType: "text/plain" } : {}) };
  }
  const target = requestTarget(request.path);
  const type = target && api.types.byPlural(target.group, target.version, target.plural);
  if (target === undefined || type === undefined || isMisplaced(type, target)) return unknownPath(request.path);
  const call = { api, request, type, target, bookmarkMs };
  if (target.name === undefined) return onCollection(call);
  return target.subresource === undefined ? onObject(call, target.name) : onStatus(call, target.name);
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
      return written(api.create(type, target.namespace, request.body, writeOptions(request)));
    }
    case "DELETE":
      return { status: 200, body: deleteCollection(call) };
    default:
      throw methodNotAllowed();
  }
}

function onObject({ api, request, type, target }: Call, name: string): SandboxReply {
  const key = keyOf({ name, namespace: target.namespace });
  const options = writeOptions(request);
  switch (request.method) {
    case "GET":
      return { status: 200, body: api.get(type, key) };
    case "PUT":
      requireJSON(request);
      return written(api.update(type, key, request.body, options));
    case "PATCH":
      requireMergePatch(request, type);
      return written(api.patch(type, key, request.body, options));
    case "DELETE":
      return { status: 200, body: deletedDocument(type, api.remove(type, key, deleteOptions(request))) };
    default:
      throw methodNotAllowed();
  }
}

function onStatus({ api, request, type, target }: Call, name: string): SandboxReply {
  const key = keyOf({ name, namespace: target.namespace });
  const options = { ...writeOptions(request), subresource: "status" } as const;
  switch (request.method) {
    case "GET":
      return { status: 200, body: api.get(type, key) };
    case "PUT":
      requireJSON(request);
      return written(api.update(type, key, request.body, options));
    case "PATCH":
      requireMergePatch(request, type);
      return written(api.patch(type, key, request.body, options));
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

function deleteCollection({ api, request, type, target }: Call): JSONObject {
  const filter = objectFilter(type, target.namespace, request.query);
  const items: KubeObject[] = [];
  for (const object of api.store.all(storeKey(type))) {
    if (filter.includes(object)) items.push(api.remove(type, keyOf(object.metadata), deleteOptions(request)).object);
  }
  const metadata = { resourceVersion: String(api.store.resourceVersion) };
  return { kind: `${type.kind}List`, apiVersion: apiVersionOf(type), metadata, items };
}

/** Whoever reaches the sandbox may do everything in it; a fault with status 403 stands for a missing permission. */
function reviewAccess(body: unknown): SandboxReply {
  if (!isObject(body) || !isObject(body["spec"])) throw badRequest("spec: Required value");
  const status = { allowed: true, reason: "the sandbox allows everything" };
  return { status: 201, body: { ...body, metadata: objectAt(body, "metadata"), status } };
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

const UNKNOWN_FORMAT = "the body of the request was in an unknown format - accepted media types include";

function mediaType(request: SandboxRequest): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
}

/** Refuses a body that is not JSON. @throws StatusError 415 */
function requireJSON(request: SandboxRequest): void {
  const type = mediaType(request);
  if (type === "" || type === "application/json") return;
  const accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  throw unsupportedMediaType(`${UNKNOWN_FORMAT}: ${accepted}`);
}

/** Refuses every patch but a JSON merge patch; of the kinds the real server knows, it says so. @throws StatusError 415 */
function requireMergePatch(request: SandboxRequest, resource: ResourceType): void {
  const type = mediaType(request);
  if (type === "application/merge-patch+json") return;
  const strategic = resource.schema === undefined ? ["application/strategic-merge-patch+json"] : [];
  const real = [
    "application/json-patch+json",
    "application/merge-patch+json",
    ...strategic,
    "application/apply-patch+yaml",
  ];
  if (!real.includes(type)) throw unsupportedMediaType(`${UNKNOWN_FORMAT}: ${real.join(", ")}`);
  throw unsupportedMediaType(
    `the sandbox applies merge patches only: send application/merge-patch+json instead of ${type}`,
  );
}

/** Reads `fieldValidation` and `dryRun`. @throws StatusError 400 */
function writeOptions({ method, query }: SandboxRequest): WriteOptions {
  const fieldValidation = query.get("fieldValidation") ?? "";
  return { fieldValidation: readFieldValidation(fieldValidation, method), isDryRun: query.get("dryRun") === "All" };
}

const OPTIONS: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({
    POST: "CreateOptions",
    PUT: "UpdateOptions",
    PATCH: "PatchOptions",
  }),
);

function readFieldValidation(text: string, method: string): FieldValidation {
  if (text === "") return "Warn";
  if (text === "Ignore" || text === "Warn" || text === "Strict") return text;
  const message = `Unsupported value: ${JSON.stringify(text)}: supported values: "", "Ignore", "Strict", "Warn"`;
  const cause = { reason: "FieldValueNotSupported", message, field: "fieldValidation" };
  throw new StatusError(
    422,
    "Invalid",
    `${OPTIONS.get(method)}.meta.k8s.io "" is invalid: fieldValidation: ${message}`,
    {
      group: "meta.k8s.io",
      kind: OPTIONS.get(method),
      causes: [cause],
    },
  );
}

/** Reads the parameters of a DELETE from the query and the body. */
function deleteOptions({ query, body }: SandboxRequest): DeleteOptions {
  const grace = query.get("gracePeriodSeconds") ?? valueAt(body, "gracePeriodSeconds") ?? undefined;
  const uid = textAt(body, "preconditions", "uid");
  const resourceVersion = textAt(body, "preconditions", "resourceVersion");
  const isDryRun = query.get("dryRun") === "All" || arrayAt(body, "dryRun").includes("All");
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
    preconditions: { ...(uid === "" ? {} : { uid }), ...(resourceVersion === "" ? {} : { resourceVersion }) },
    isDryRun,
  };
}
