import type { SandboxReply, SandboxRequest } from "../http-server.ts";
import { discover } from "./discovery.ts";
import type { Deleted, DeleteOptions, KubernetesAPI, WriteOptions, Written } from "./kubernetes-api.ts";
import { listObjects, watchObjects } from "./lists.ts";
import { arrayAt, type JSONObject, keyOf, objectAt, textAt, valueAt } from "./object-store.ts";
import { PATCHES, type PatchKind } from "./patches.ts";
import { APPLY, bodyOf, mediaType, READABLE } from "./request-body.ts";
import type { ResourceType } from "./resource-types.ts";
import { badRequest, methodNotAllowed, StatusError, unsupportedMediaType } from "./status-error.ts";
import { tableOf, wantsTable } from "./tables.ts";

interface Call {
  readonly api: KubernetesAPI;
  readonly request: SandboxRequest;
  readonly type: ResourceType;
  readonly target: RequestTarget;
  readonly bookmarkMs: number;
}

/**
 * Answers one HTTP request as kube-apiserver does. Whoever reaches the
 * sandbox may do everything in it, and reviews of access say so; a fault with status 403 stands for a missing permission.
 * @throws StatusError for every refusal
 */
export function handleRequest(api: KubernetesAPI, request: SandboxRequest, bookmarkMs: number): SandboxReply {
  if (request.path === "/version" && request.method === "GET") return { status: 200, body: VERSION };
  if (PROBES.test(request.path)) return { status: 200, body: "ok", contentType: "text/plain; charset=utf-8" };
  const review = request.method === "POST" ? REVIEWS.get(request.path) : undefined;
  if (review !== undefined) return { status: 201, body: { metadata: {}, ...objectAt(request, "body"), ...review } };
  const found =
    request.method === "GET" ? discover(api.types.all(), request.path, request.headers["accept"]) : undefined;
  if (found !== undefined) return found;
  const target = requestTarget(request.path);
  const type = target && api.types.byPlural(target.group, target.version, target.plural);
  if (target === undefined || type === undefined || isMisplaced(type, target)) return unknownPath(request.path);
  const call = { api, request: { ...request, body: bodyOf(request) }, type, target, bookmarkMs };
  return target.name === undefined ? onCollection(call) : onObject(call, target.name);
}

/** The version whose answers the sandbox gives. */
const VERSION = { major: "1", minor: "35", gitVersion: "v1.35.4" };

const PROBES = /^\/(healthz|livez|readyz)$/;

const EVERYTHING = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], nonResourceURLs: ["*"] }];
const ALLOWED = { resourceRules: EVERYTHING, nonResourceRules: EVERYTHING, incomplete: false };

/** Everybody may do everything. */
const REVIEWS: ReadonlyMap<string, JSONObject> = new Map([
  review("authorization", "SelfSubjectAccessReview", { allowed: true }),
  review("authorization", "SelfSubjectRulesReview", ALLOWED),
  review("authentication", "SelfSubjectReview", { userInfo: { username: "sandbox", groups: ["system:masters"] } }),
]);

function review(group: string, kind: string, status: JSONObject): readonly [string, JSONObject] {
  const apiVersion = `${group}.k8s.io/v1`;
  return [`/apis/${apiVersion}/${kind.toLowerCase()}s`, { apiVersion, kind, status }];
}

/** True for a path that names a resource which is served, but not there. */
function isMisplaced(type: ResourceType, { namespace, name, subresource }: RequestTarget): boolean {
  const isThere = subresource === "status" ? type.hasStatus : subresource === "eviction" && type.hasEviction;
  if (subresource !== undefined && isThere !== true) return true;
  if (namespace !== undefined) return !type.isNamespaced;
  return name !== undefined && type.isNamespaced;
}

/** What an API server has, and the sandbox has not, is said in its own words; for other paths nobody answers. */
function unknownPath(path: string): SandboxReply {
  const [, version, resource = "", name, part] = NATIVE.exec(path) ?? [];
  if (version === undefined)
    return { status: 404, body: "404 page not found\n", contentType: "text/plain; charset=utf-8" };
  if (resource === "pods" && part !== undefined)
    throw new StatusError(501, "NotImplemented", `the sandbox runs no containers: pod ${name} has no ${part}`);
  const what = part === undefined ? resource : `${resource}/${part}`;
  throw new StatusError(404, "NotFound", `the sandbox has no ${what || "such API"} in ${version}`);
}

const NATIVE =
  /^\/apis?\/(v1|(?:apps|autoscaling|batch|policy|[\w.]+\.k8s\.io)\/\w+)(?:\/namespaces\/[^/]+(?=\/))?(?:\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?)?/;

function onCollection(call: Call): SandboxReply {
  const { api, request, type, target, bookmarkMs } = call;
  const { query } = request;
  switch (request.method) {
    case "GET": {
      const isWatch = ["true", "1"].includes(query.get("watch") ?? "");
      if (!isWatch) return { status: 200, body: shown(call, listObjects(api, type, target.namespace, query)) };
      let hasColumns = true;
      const show = (object: JSONObject): JSONObject => {
        const row = shown(call, object, hasColumns);
        hasColumns = false;
        return row;
      };
      const stream = watchObjects(api, { type, namespace: target.namespace, query, bookmarkMs, show });
      return { status: 200, contentType: "application/json", stream };
    }
    case "POST": {
      if (type.isNamespaced && target.namespace === undefined) throw methodNotAllowed();
      requireWritable(call);
      return written(call, api.create(type, target.namespace, request.body, writing(request)));
    }
    default:
      throw methodNotAllowed();
  }
}

/** An answer of objects in the form that the client asks for. */
function shown({ api, type, request }: Call, object: JSONObject, hasColumns = true): JSONObject {
  if (!wantsTable(request.headers["accept"])) return object;
  return tableOf(api, type, object, { includeObject: request.query.get("includeObject"), hasColumns });
}

function onObject(call: Call, name: string): SandboxReply {
  const { api, request, type, target } = call;
  const key = keyOf({ name, namespace: target.namespace });
  if (target.subresource === "eviction") return evicted(call, key);
  const part = target.subresource === undefined ? {} : ({ subresource: "status" } as const);
  const options = { ...part, ...writing(request) };
  switch (request.method) {
    case "GET":
      return { status: 200, body: shown(call, api.get(type, key)) };
    case "PUT":
      requireWritable(call);
      return written(call, api.update(type, key, request.body, options));
    case "PATCH": {
      const kind = patchKind(call);
      if (kind === APPLY)
        return written(call, api.apply(type, key, request.body, { ...options, ...applying(request) }));
      if (request.query.has("force")) throw misused("force", "Forbidden: may not be specified for non-apply patch");
      return written(call, api.patch(type, key, request.body, { ...options, kind }));
    }
    case "DELETE":
      if (target.subresource !== undefined || type.view !== undefined) throw methodNotAllowed();
      return { status: 200, body: deletedDocument(type, api.remove(type, key, deleteOptions(request))) };
    default:
      throw methodNotAllowed();
  }
}

/** No PodDisruptionBudget forbids it: the sandbox has none. */
function evicted({ api, request, type }: Call, key: string): SandboxReply {
  if (request.method !== "POST") throw methodNotAllowed();
  api.remove(type, key, deleteOptions({ ...request, body: valueAt(request.body, "deleteOptions") }));
  return { status: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}

/** How a write is meant. @throws StatusError 400, 422 for what the API server does not know either */
function writing({ query, headers }: SandboxRequest): WriteOptions & { readonly manager: string } {
  const [dryRun, validation] = [query.get("dryRun") ?? "", query.get("fieldValidation") || "Warn"];
  if (dryRun !== "" && dryRun !== "All") throw unsupported("dryRun", dryRun, ["All"]);
  if (!VALIDATIONS.includes(validation)) {
    throw new StatusError(422, "Invalid", unsupported("fieldValidation", validation, VALIDATIONS).message);
  }
  // A client that does not say who it is is known by its program.
  const manager = query.get("fieldManager") || headers["user-agent"]?.split("/")[0] || "unknown";
  return { isDryRun: dryRun === "All", isStrict: validation === "Strict", manager };
}

/** An apply says who it is. @throws StatusError 422 */
function applying({ query }: SandboxRequest): { readonly isForced: boolean } {
  if (!query.get("fieldManager")) throw misused("fieldManager", "Required value: is required for apply patch");
  return { isForced: query.get("force") === "true" };
}

function misused(parameter: string, why: string): StatusError {
  return new StatusError(422, "Invalid", `PatchOptions.meta.k8s.io "" is invalid: ${parameter}: ${why}`);
}

const VALIDATIONS = ["Ignore", "Strict", "Warn"];

function unsupported(field: string, value: string, supported: readonly string[]): StatusError {
  const words = supported.map((one) => JSON.stringify(one)).join(", ");
  return badRequest(`${field}: Unsupported value: ${JSON.stringify(value)}: supported values: ${words}`);
}

function written(call: Call, { object, isNew, warnings }: Written): SandboxReply {
  // One header line can hold several warnings, joined by commas.
  const isSilent = call.request.query.get("fieldValidation") === "Ignore";
  const warning = (isSilent ? [] : warnings).map((text) => `299 - ${JSON.stringify(text)}`).join(", ");
  const headers = warning === "" ? {} : { headers: { Warning: warning } };
  return { status: isNew ? 201 : 200, body: shown(call, object), ...headers };
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

/** Refuses to write what is only shown, and a body of a form that the sandbox does not know. @throws StatusError 405, 415 */
function requireWritable({ request, type }: Call): void {
  if (type.view !== undefined) throw methodNotAllowed();
  const sent = mediaType(request);
  if (!READABLE.includes(sent)) throw unsupportedMediaType(`the sandbox does not read ${sent}: send application/json`);
}

/** The kind of a PATCH: strategic merges are for built-in resources only. @throws StatusError 405, 415 */
function patchKind({ request, type }: Call): PatchKind | typeof APPLY {
  if (type.view !== undefined) throw methodNotAllowed();
  const sent = mediaType(request);
  const known = KINDS.filter((kind) => type.schema === undefined || !kind.includes("strategic"));
  const all = [...known, APPLY] as const;
  const kind = all.find((one) => one === sent);
  if (kind !== undefined) return kind;
  const accepted = all.join(", ");
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );
}

const KINDS = Object.keys(PATCHES) as readonly PatchKind[];

/** Reads the parameters of a DELETE from the query and the body. */
function deleteOptions({ query, body }: SandboxRequest): DeleteOptions {
  const grace = query.get("gracePeriodSeconds") ?? valueAt(body, "gracePeriodSeconds") ?? undefined;
  const uid = textAt(body, "preconditions", "uid");
  const resourceVersion = textAt(body, "preconditions", "resourceVersion");
  return {
    isDryRun: query.get("dryRun") === "All" || arrayAt(body, "dryRun").includes("All"),
    ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
    preconditions: { ...(uid === "" ? {} : { uid }), ...(resourceVersion === "" ? {} : { resourceVersion }) },
  };
}
