import { checkBuiltIn, findUndecodable, invalidValue } from "./built-in-checks.ts";
import {
  arrayAt,
  isObject,
  type JSONObject,
  type KubeObject,
  objectAt,
  omit,
  textAt,
  valueAt,
} from "./object-store.ts";
import { apiVersionOf, type ResourceType } from "./resource-types.ts";
import type { Cause } from "./schema.ts";
import { type Schema, validate } from "./schema.ts";
import { badRequest, invalid, StatusError } from "./status-error.ts";

/** An object that may be stored, and what the caller is warned of. */
interface Admitted {
  readonly object: JSONObject;
  readonly warnings: readonly string[];
}

/**
 * The object as it would be stored: pruned, defaulted and valid. Pure.
 *
 * @param before the stored object on updates.
 * @throws StatusError 400 for what cannot be decoded or, if strict, has unknown fields, 422 with all causes for what is invalid.
 */
export function admitObject(
  type: ResourceType,
  object: JSONObject,
  options: {
    readonly before?: KubeObject;
    readonly subresource?: "status";
    /** Fields that the schema does not know are refused, not left out. */
    readonly isStrict?: boolean;
    readonly isPatch?: boolean;
  },
): Admitted {
  const wrong = findWrongMetadataType(object["metadata"] ?? {});
  if (wrong !== undefined) throw badRequest(`${handledAs(type)}: ${wrong}`);
  const undecodable = findUndecodable(type, object);
  if (undecodable !== undefined) throw undecodable;
  const { value, unknownFields } = prunedBy(type, object);
  const unknown = unknownFields.map((field) => `unknown field "${field}"`);
  if (options.isStrict === true && unknown.length > 0)
    throw strictError(type, value, unknown, options.isPatch === true);
  const causes = [
    ...checkMetadata(objectAt(value, "metadata"), type),
    ...checkBuiltIn(type, value, options.before === undefined),
    ...(type.schema === undefined ? [] : validateBySchema(value, type.schema, options.subresource)),
  ];
  if (causes.length > 0) throw invalid(type, textAt(value, "metadata", "name"), causes);
  return { object: value, warnings: unknown };
}

/** The rest of a custom object; to `/status` the status alone. */
function validateBySchema(object: JSONObject, schema: Schema, subresource: "status" | undefined): readonly Cause[] {
  if (subresource === undefined) return validate(omit(object, "apiVersion", "kind", "metadata"), schema, "");
  return validate(object["status"] ?? {}, schema.properties?.["status"] ?? {}, "status");
}

/** A body with unknown fields cannot be read; a patch that makes some is invalid, and the answer names no object. */
function strictError(
  type: ResourceType,
  object: JSONObject,
  unknown: readonly string[],
  isPatch: boolean,
): StatusError {
  const why = `strict decoding error: ${unknown.join(", ")}`;
  if (!isPatch) return badRequest(`${handledAs(type)}: ${why}`);
  const cause = invalidValue("patch", JSON.stringify(object), why);
  return new StatusError(422, "Invalid", ` "" is invalid: patch: ${cause.message}`, { causes: [cause] });
}

/** What is applied on the server's side has no field that the schema does not know. @throws StatusError 500, as the server has it */
export function refuseUnknownFields(type: ResourceType, config: JSONObject): void {
  const [unknown] = prunedBy(type, config).unknownFields;
  if (unknown === undefined) return;
  const name = `${textAt(config, "metadata", "namespace")}/${textAt(config, "metadata", "name")}`;
  const subject = `${name}; ${apiVersionOf(type)}, Kind=${type.kind}`;
  throw new StatusError(
    500,
    "",
    `failed to create typed patch object (${subject}): .${unknown}: field not declared in schema`,
  );
}

function handledAs(type: ResourceType): string {
  return `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
}

function prunedBy(type: ResourceType, object: JSONObject): { value: JSONObject; unknownFields: readonly string[] } {
  if (type.schema === undefined) return { value: object, unknownFields: [] };
  return prune(object, type.schema);
}

/** A stored object as it is served now: in the version asked for, pruned and defaulted by the schema of the moment. Pure. */
export function presentObject(type: ResourceType, object: KubeObject): KubeObject {
  const head = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: object.metadata };
  return { ...prunedBy(type, type.view?.show(object) ?? object).value, ...head };
}

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const LABEL_NAME = new RegExp(`^${LABEL}$`);
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const SUBDOMAIN_RULE = "must be lower case letters, digits, - and . (a RFC 1123 subdomain)";
const LABEL_NAME_RULE = "must be lower case letters, digits and - (a RFC 1123 label)";
const QUALIFIED_RULE = "name part must be letters, digits, -, _ and .";
const LABEL_VALUE_RULE = "a valid label must be letters, digits, -, _ and .";

/** What is wrong with the metadata of an object that is to be stored; empty when nothing is. Pure. */
function checkMetadata(metadata: JSONObject, type: ResourceType): readonly Cause[] {
  return [
    ...checkName(metadata["name"], type),
    ...checkTexts(metadata["labels"], "metadata.labels", (value) =>
      value.length > 63
        ? { reason: "FieldValueTooLong", message: "Too long: may not be more than 63 bytes", field: "metadata.labels" }
        : LABEL_VALUE.test(value)
          ? undefined
          : invalidValue("metadata.labels", value, LABEL_VALUE_RULE),
    ),
    ...checkTexts(metadata["annotations"], "metadata.annotations", () => undefined),
    ...checkAnnotationSize(metadata["annotations"]),
  ];
}

function checkName(name: unknown, type: ResourceType): readonly Cause[] {
  if (typeof name !== "string" || name === "") {
    const message = "Required value";
    return [{ reason: "FieldValueRequired", message, field: "metadata.name" }];
  }
  const isLabel = type.plural === "namespaces" || type.plural === "services";
  const limit = isLabel ? 63 : 253;
  if (name.length > limit) return [invalidValue("metadata.name", name, `must be no more than ${limit} bytes`)];
  const rule = isLabel ? LABEL_NAME : SUBDOMAIN;
  return rule.test(name) ? [] : [invalidValue("metadata.name", name, isLabel ? LABEL_NAME_RULE : SUBDOMAIN_RULE)];
}

function checkTexts(map: unknown, field: string, check: (value: string) => Cause | undefined): readonly Cause[] {
  if (!isObject(map)) return [];
  return Object.entries(map).flatMap(([key, value]) => {
    const name = key.split("/").at(-1) ?? "";
    const wrongKey = QUALIFIED.test(name) && name.length <= 63 ? [] : [invalidValue(field, key, QUALIFIED_RULE)];
    const wrongValue = check(String(value));
    return wrongValue === undefined ? wrongKey : [...wrongKey, wrongValue];
  });
}

const ANNOTATIONS_LIMIT = 262_144;

function checkAnnotationSize(annotations: unknown): readonly Cause[] {
  if (!isObject(annotations)) return [];
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
  if (size <= ANNOTATIONS_LIMIT) return [];
  const message = `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`;
  return [{ reason: "FieldValueTooLong", message, field: "metadata.annotations" }];
}

/** The first member of metadata that is not of the type every object needs, with what it is; undefined when all are. */
function findWrongMetadataType(metadata: unknown): string | undefined {
  if (!isObject(metadata)) return "metadata is not an object";
  const texts = ["name", "namespace", "generateName", "resourceVersion", "uid"];
  const notText = texts.find((key) => !isTextOrAbsent(metadata[key]));
  if (notText !== undefined) return notAText(metadata[notText], notText);
  const notMap = ["labels", "annotations"].find((key) => !isTextMap(metadata[key] ?? {}));
  if (notMap !== undefined) return notAText(firstNonText(metadata[notMap]), notMap);
  const finalizers = metadata["finalizers"] ?? [];
  const areTexts = Array.isArray(finalizers) && finalizers.every((item) => typeof item === "string");
  return areTexts ? undefined : notAText(firstNonText(finalizers), "finalizers");
}

function notAText(value: unknown, field: string): string {
  const found = Array.isArray(value) ? "array" : typeof value;
  return `json: cannot unmarshal ${found} into Go struct field ObjectMeta.metadata.${field} of type string`;
}

function firstNonText(values: unknown): unknown {
  const members: readonly unknown[] = typeof values === "object" && values !== null ? Object.values(values) : [values];
  return members.find((member) => typeof member !== "string");
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string";
}

function isTextMap(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((item) => typeof item === "string");
}

/** A value as it is stored, and the paths of the fields that the schema does not know. */
interface Pruned {
  readonly value: JSONObject;
  /** `spec.match.tolerations[0].colour`, sorted. */
  readonly unknownFields: readonly string[];
}

/** The object without unknown fields and with defaults filled in; `apiVersion`, `kind` and `metadata` are left alone. Pure. */
export function prune(object: JSONObject, schema: Schema): Pruned {
  const unknownFields: string[] = [];
  const { apiVersion, kind, metadata, ...rest } = object;
  const head = { apiVersion, kind, metadata };
  const body = walkObject(rest, { ...schema, properties: withoutHead(schema) }, "", unknownFields);
  return { value: { ...head, ...body }, unknownFields: unknownFields.sort() };
}

function withoutHead(schema: Schema): Readonly<Record<string, Schema>> {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = schema.properties ?? {};
  return rest;
}

function walk(value: unknown, schema: Schema, path: string, unknownFields: string[]): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    return items === undefined
      ? value
      : value.map((item, index) => walk(item, items, `${path}[${index}]`, unknownFields));
  }
  return isObject(value) ? walkObject(value, schema, path, unknownFields) : value;
}

function walkObject(value: JSONObject, schema: Schema, path: string, unknownFields: string[]): JSONObject {
  const pathOf = (key: string): string => (path === "" ? key : `${path}.${key}`);
  const members: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const memberSchema = schemaOf(schema, key);
    if (memberSchema === undefined) unknownFields.push(pathOf(key));
    else if (!isDroppedNull(member, memberSchema))
      members.push([key, walk(member, memberSchema, pathOf(key), unknownFields)]);
  }
  const kept: JSONObject = Object.fromEntries(members);
  return { ...kept, ...defaultsOf(schema, kept, (key, member) => walk(member.default, member, pathOf(key), [])) };
}

/** A default may itself be an object whose members have defaults; `complete` fills those in. */
function defaultsOf(schema: Schema, kept: JSONObject, complete: (key: string, member: Schema) => unknown): JSONObject {
  const absent = Object.entries(schema.properties ?? {}).filter(
    ([key, member]) => member.default !== undefined && !Object.hasOwn(kept, key),
  );
  return Object.fromEntries(absent.map(([key, member]) => [key, complete(key, member)]));
}

/** The schema of what nobody looks at. */
const OPEN: Schema = { "x-kubernetes-preserve-unknown-fields": true };

/** Null where it is not allowed counts as absent. */
function isDroppedNull(value: unknown, schema: Schema): boolean {
  return value === null && schema.nullable !== true && schema !== OPEN;
}

/** The schema of one member; undefined when the member is unknown. */
function schemaOf(schema: Schema, key: string): Schema | undefined {
  const own = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
  if (own !== undefined) return own;
  if (isObject(schema.additionalProperties)) return schema.additionalProperties;
  const isOpen = schema.additionalProperties === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isEmbeddedHead = schema["x-kubernetes-embedded-resource"] === true && EMBEDDED.includes(key);
  return isOpen || isEmbeddedHead ? OPEN : undefined;
}

const EMBEDDED = ["apiVersion", "kind", "metadata"];

/** A new object with what the server adds of its own, and without what only it says. Pure. */
export function addByAdmission(type: ResourceType, object: JSONObject): JSONObject {
  switch (type.kind) {
    case "Namespace":
      return withNamespaceDefaults(omit(object, "status"));
    case "Node":
      return withNotReadyTaint(object);
    case "Pod":
      return { ...object, status: { phase: "Pending" } };
    case "CustomResourceDefinition":
      return object;
    default:
      return type.hasStatus ? omit(object, "status") : object;
  }
}

/** The label that holds the name of every namespace. */
export const NAME_LABEL = "kubernetes.io/metadata.name";

/** A namespace as the server completes it: labelled with its name, active. Pure. */
export function withNamespaceDefaults(object: JSONObject): JSONObject {
  const metadata = objectAt(object, "metadata");
  const labels = { ...objectAt(metadata, "labels"), [NAME_LABEL]: textAt(metadata, "name") };
  const status = { phase: "Active", ...objectAt(object, "status") };
  return { ...object, metadata: { ...metadata, labels }, spec: { finalizers: ["kubernetes"] }, status };
}

const NOT_READY = "node.kubernetes.io/not-ready";

/** A new node is tainted until something sees it ready. */
function withNotReadyTaint(node: JSONObject): JSONObject {
  const taints = arrayAt(node, "spec", "taints");
  if (taints.some((taint) => valueAt(taint, "key") === NOT_READY)) return node;
  return {
    ...node,
    spec: { ...objectAt(node, "spec"), taints: [...taints, { key: NOT_READY, effect: "NoSchedule" }] },
  };
}
