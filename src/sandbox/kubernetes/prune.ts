import { isObject, type JSONObject } from "./json-object.ts";
import type { Schema } from "./schema.ts";

/** A value as it is stored, and the paths of the fields that the schema does not know. */
export interface Pruned {
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
