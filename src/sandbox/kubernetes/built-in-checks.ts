import {
  arrayAt,
  type Change,
  isObject,
  type JSONObject,
  type KubeObject,
  type ObjectStore,
  storeKey,
  textAt,
  valueAt,
} from "./object-store.ts";
import { apiVersionOf, type ResourceType } from "./resource-types.ts";
import {
  badRequest,
  type Cause,
  forbidden,
  invalid,
  notFound,
  preconditionFailed,
  StatusError,
} from "./status-error.ts";

function required(field: string, why = ""): Cause {
  return { reason: "FieldValueRequired", message: `Required value${why === "" ? "" : `: ${why}`}`, field };
}

function invalidValue(field: string, value: unknown, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field };
}

/**
 * What is wrong with an object of a built-in resource, as far as flipop's own writes can go wrong; empty when nothing is.
 * `before` is the stored object on updates. The rest of the built-in types is not validated. Pure.
 */
export function checkBuiltIn(type: ResourceType, object: JSONObject, before: JSONObject | undefined): readonly Cause[] {
  switch (type.kind) {
    case "Lease":
      return checkLease(object);
    case "Event":
      return checkEvent(object, before);
    case "Node":
      return checkNode(object, before);
    case "Pod":
      return checkPod(object, before);
    case "CustomResourceDefinition":
      return checkDefinition(object);
    default:
      return [];
  }
}

function checkLease(lease: JSONObject): readonly Cause[] {
  const causes: Cause[] = [];
  const duration = valueAt(lease, "spec", "leaseDurationSeconds");
  const transitions = valueAt(lease, "spec", "leaseTransitions");
  if (typeof duration === "number" && duration <= 0) {
    causes.push(invalidValue("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  if (typeof transitions === "number" && transitions < 0) {
    causes.push(invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  }
  return causes;
}

const NOTE_LIMIT = 1024;
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const NAME_RULE =
  "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

function checkEvent(event: JSONObject, before: JSONObject | undefined): readonly Cause[] {
  if (before !== undefined) return [];
  const type = textAt(event, "type");
  const missing = ["reportingInstance", "action", "reason"].filter((field) => textAt(event, field) === "");
  return [
    ...checkEventNamespace(event),
    ...(textAt(event, "eventTime") === "" ? [required("eventTime")] : []),
    ...checkController(textAt(event, "reportingController")),
    ...missing.map((field) => required(field)),
    ...(type === "Normal" || type === "Warning" ? [] : [invalidValue("type", "", `has invalid value: ${type}`)]),
    ...(Buffer.byteLength(textAt(event, "note")) > NOTE_LIMIT
      ? [invalidValue("message", "", `can have at most ${NOTE_LIMIT} characters`)]
      : []),
  ];
}

/** An event about a cluster-scoped object lives in one of two namespaces; of other events nothing is asked. */
function checkEventNamespace(event: JSONObject): readonly Cause[] {
  const regarding = textAt(event, "regarding", "namespace");
  const own = textAt(event, "metadata", "namespace");
  if (regarding !== "" || own === "default" || own === "kube-system") return [];
  return [invalidValue("involvedObject.namespace", regarding, "does not match event.namespace")];
}

function checkController(name: string): readonly Cause[] {
  const field = "reportingController";
  const parts = name.split("/");
  if (parts.length > 2) {
    const rule = `a valid label key must ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
    return [invalidValue(field, name, rule)];
  }
  const part = parts.at(-1) ?? "";
  return [
    ...(name === "" ? [required(field)] : []),
    ...(part === "" ? [invalidValue(field, name, "name part must be non-empty")] : []),
    ...(NAME_PART.test(part) ? [] : [invalidValue(field, name, `name part must ${NAME_RULE}`)]),
  ];
}

function checkNode(node: JSONObject, before: JSONObject | undefined): readonly Cause[] {
  const was = textAt(before, "spec", "providerID");
  if (was === "" || textAt(node, "spec", "providerID") === was) return [];
  const message = 'Forbidden: node updates may not change providerID except from "" to valid';
  return [{ reason: "FieldValueForbidden", message, field: "spec.providerID" }];
}

function checkPod(pod: JSONObject, before: JSONObject | undefined): readonly Cause[] {
  return before === undefined && arrayAt(pod, "spec", "containers").length === 0 ? [required("spec.containers")] : [];
}

function checkDefinition(crd: JSONObject): readonly Cause[] {
  const name = textAt(crd, "metadata", "name");
  const group = textAt(crd, "spec", "group");
  const missing = ["group", "scope"].filter((field) => textAt(crd, "spec", field) === "");
  const missingNames = ["plural", "kind"].filter((field) => textAt(crd, "spec", "names", field) === "");
  const stored = arrayAt(crd, "spec", "versions").filter((version) => valueAt(version, "storage") === true);
  const isNamed = name === `${textAt(crd, "spec", "names", "plural")}.${group}`;
  return [
    ...(isNamed ? [] : [invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group')]),
    ...missing.map((field) => required(`spec.${field}`)),
    ...(stored.length === 1
      ? []
      : [
          invalidValue(
            "spec.versions",
            valueAt(crd, "spec", "versions") ?? null,
            "must have exactly one version marked as storage version",
          ),
        ]),
    ...missingNames.map((field) => required(`spec.names.${field}`)),
  ];
}

const MICRO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}(Z|[+-]\d{2}:\d{2})$/;
const MICRO_TIME_FIELDS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map<
  string,
  readonly (readonly string[])[]
>(
  Object.entries({
    Lease: [
      ["spec", "acquireTime"],
      ["spec", "renewTime"],
    ],
    Event: [["eventTime"], ["series", "lastObservedTime"]],
  }),
);

/**
 * The refusal of a time that is no MicroTime (exactly six decimals) or of a `spec` that is no object; undefined when there
 * is nothing to refuse.
 */
export function findUndecodable(type: ResourceType, object: JSONObject): StatusError | undefined {
  const prefix = `${type.kind} in version "${apiVersionOf(type).split("/").at(-1)}" cannot be handled as a ${type.kind}`;
  for (const path of MICRO_TIME_FIELDS.get(type.kind) ?? []) {
    const time = valueAt(object, ...path) ?? null;
    if (time !== null && !(typeof time === "string" && MICRO_TIME.test(time)))
      return badRequest(`${prefix}: ${notMicro(time)}`);
  }
  if (type.schema !== undefined) return undefined;
  for (const part of ["spec", "status"]) {
    const value = object[part] ?? {};
    if (!isObject(value))
      return badRequest(`${prefix}: json: cannot unmarshal ${typeof value} into Go struct field ${type.kind}.${part}`);
  }
  return undefined;
}

function notMicro(time: unknown): string {
  if (typeof time !== "string") return `json: cannot unmarshal ${typeof time} into Go value of type string`;
  const rest = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(.*)$/.exec(time)?.[1] ?? time;
  const layout = "2006-01-02T15:04:05.000000Z07:00";
  return `parsing time ${JSON.stringify(time)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ".000000"`;
}

/** Name of namespaces in the store. */
export const NAMESPACES = "/namespaces";

/** Namespaces that every cluster has. */
export const STANDARD_NAMESPACES: readonly string[] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Refuses to create an object in a namespace that is missing (404) or being deleted (403). @throws StatusError */
export function requireActiveNamespace(store: ObjectStore, type: ResourceType, namespace: string, name: string): void {
  const found = store.get(NAMESPACES, namespace);
  if (found === undefined) {
    const details = { name: namespace, kind: "namespaces" };
    throw new StatusError(404, "NotFound", `namespaces "${namespace}" not found`, details);
  }
  if (!isTerminating(found)) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  throw forbidden(type, name, why, [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }]);
}

function isTerminating(namespace: KubeObject): boolean {
  return namespace.metadata.deletionTimestamp !== undefined || textAt(namespace, "status", "phase") === "Terminating";
}

/** Does a controller's work: ends a namespace that is being deleted once nothing is left in it. */
export function endEmptyNamespace(store: ObjectStore, { type, object, resource }: Change): void {
  const namespace = object.metadata.namespace;
  if (type !== "DELETED" || namespace === undefined || resource === NAMESPACES) return;
  const found = store.get(NAMESPACES, namespace);
  if (found?.metadata.deletionTimestamp !== undefined && isEmpty(store, namespace)) store.remove(NAMESPACES, namespace);
}

/** True when no object of any resource is in the namespace. */
export function isEmpty(store: ObjectStore, namespace: string): boolean {
  return store.resourceNames().every((resource) => contentOf(store, resource, namespace).length === 0);
}

/** The objects of a resource in a namespace. */
export function contentOf(store: ObjectStore, resource: string, namespace: string): readonly KubeObject[] {
  return store.all(resource).filter((object) => object.metadata.namespace === namespace);
}

/** The namespaced resources, by their names in the store. */
export function namespacedResources(types: readonly ResourceType[]): readonly string[] {
  return [...new Set(types.filter((type) => type.isNamespaced).map(storeKey))];
}

/** 404 for the object of a key. */
export function notFoundAt(type: ResourceType, key: string): StatusError {
  return notFound(type, key.split("/").at(-1) ?? key);
}

/** The refusal of a body of another kind: 400 for built-in resources, 422 for custom ones. */
export function wrongKind(type: ResourceType, name: string, kind: string, apiVersion: string): StatusError {
  if (type.schema !== undefined) {
    const message = `Invalid value: ${JSON.stringify(kind)}: must be ${type.kind}`;
    return invalid({ ...type, kind }, name, [{ reason: "FieldValueInvalid", message, field: "kind" }]);
  }
  const version = apiVersion.split("/").at(-1);
  const group = type.group.split(".")[0] || "core";
  const why = `converting (${version}.${kind}) to (${group}.${type.kind}): unknown conversion`;
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${type.kind}: ${why}`);
}

/** 422 for a patch of the uid. */
export function changedUID(type: ResourceType, name: string, uid: unknown): StatusError {
  const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
  return invalid(type, name, [{ reason: "FieldValueInvalid", message, field: "metadata.uid" }]);
}

/** 400 for a merge patch that is no object. */
export function notAMergePatch(patch: unknown): StatusError {
  if (patch === undefined || patch === null) return badRequest("Invalid JSON Patch");
  const found = Array.isArray(patch) ? "array" : typeof patch;
  const why = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
  return badRequest(`error decoding patch: ${why}`);
}

/** Refuses a DELETE that is meant for another object or version. @throws StatusError 409 */
export function checkPreconditions(
  type: ResourceType,
  { metadata }: KubeObject,
  wanted: { readonly uid?: string; readonly resourceVersion?: string },
): void {
  const { uid = metadata.uid, resourceVersion = metadata.resourceVersion } = wanted;
  if (uid !== metadata.uid) {
    throw preconditionFailed(type, metadata.name, { what: "UID", wanted: uid, found: metadata.uid });
  }
  if (resourceVersion !== metadata.resourceVersion) {
    const versions = { wanted: resourceVersion, found: metadata.resourceVersion };
    throw preconditionFailed(type, metadata.name, { what: "ResourceVersion", ...versions });
  }
}
