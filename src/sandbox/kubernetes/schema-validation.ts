import { canonicalJSON } from "./canonical-json.ts";
import { isObject, type JSONObject, valueAt } from "./json-object.ts";
import { invalidInBody, validateNumber, validateText } from "./scalar-validation.ts";
import type { Schema } from "./schema.ts";
import type { Cause } from "./status-error.ts";

/** What a value violates, in the API server's words (kube-apiserver 1.35, verified 2026-08); empty when it is valid. Pure. */
export function validate(value: unknown, schema: Schema, path: string): readonly Cause[] {
  if (value === null && schema.nullable === true) return [];
  const wrongType = findWrongType(value, schema, path);
  if (wrongType !== undefined) return [wrongType];
  return [
    ...validateEnum(value, schema, path),
    ...(typeof value === "string" ? validateText(value, schema, path) : []),
    ...(typeof value === "number" ? validateNumber(value, schema, path) : []),
    ...(Array.isArray(value) ? validateArray(value, schema, path) : []),
    ...(isObject(value) ? validateObject(value, schema, path) : []),
    ...validateCombinations(value, schema, path),
  ];
}

function findWrongType(value: unknown, schema: Schema, path: string): Cause | undefined {
  const isEither = schema["x-kubernetes-int-or-string"] === true;
  const expected = isEither ? "integer,string" : schema.type;
  if (expected === undefined || expected.split(",").some((type) => hasType(value, type))) return undefined;
  const found = typeName(value);
  const why = `${path} in body must be of type ${expected}: "${found}"`;
  return { reason: "FieldValueTypeInvalid", message: `Invalid value: "${found}": ${why}`, field: path };
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** The type's name as the API server calls it in errors. */
function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function validateEnum(value: unknown, schema: Schema, path: string): readonly Cause[] {
  if (schema.enum === undefined || schema.enum.some((item) => canonicalJSON(item) === canonicalJSON(value))) return [];
  const supported = schema.enum.map((item) => JSON.stringify(item)).join(", ");
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`;
  return [{ reason: "FieldValueNotSupported", message, field: path }];
}

function tooMany(count: number, limit: number, path: string): Cause {
  return { reason: "FieldValueTooMany", message: `Too many: ${count}: must have at most ${limit} items`, field: path };
}

function validateArray(value: readonly unknown[], schema: Schema, path: string): readonly Cause[] {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const causes: Cause[] = [];
  if (value.length > maxItems) causes.push(tooMany(value.length, maxItems, path));
  if (value.length < minItems) {
    causes.push(invalidInBody(value.length, `should have at least ${minItems} items`, path));
  }
  if (items !== undefined) causes.push(...value.flatMap((item, index) => validate(item, items, `${path}[${index}]`)));
  return [...causes, ...findDuplicates(value, schema, path)];
}

function findDuplicates(value: readonly unknown[], schema: Schema, path: string): readonly Cause[] {
  const listType = schema["x-kubernetes-list-type"];
  if (listType !== "map" && listType !== "set") return [];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const seen = new Set<string>();
  return value.flatMap((item, index) => {
    const isMap = listType === "map" && isObject(item);
    const identity = canonicalJSON(isMap ? Object.fromEntries(keys.map((key) => [key, valueAt(item, key)])) : item);
    if (seen.has(identity)) {
      return [{ reason: "FieldValueDuplicate", message: `Duplicate value: ${identity}`, field: `${path}[${index}]` }];
    }
    seen.add(identity);
    return [];
  });
}

function validateObject(value: JSONObject, schema: Schema, path: string): readonly Cause[] {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const size = Object.keys(value).length;
  const missing = (schema.required ?? []).filter((key) => valueAt(value, key) === undefined);
  const causes: Cause[] = missing.map((key) => {
    return { reason: "FieldValueRequired", message: "Required value", field: join(path, key) };
  });
  if (size > maxProperties) causes.push(tooMany(size, maxProperties, path));
  if (size < minProperties) causes.push(invalidInBody(size, `should have at least ${minProperties} properties`, path));
  return [...causes, ...Object.entries(value).flatMap(([key, member]) => validateMember(member, schema, key, path))];
}

function validateMember(member: unknown, schema: Schema, key: string, path: string): readonly Cause[] {
  const { properties = {}, additionalProperties } = schema;
  const named = Object.hasOwn(properties, key) ? properties[key] : undefined;
  const memberSchema = named ?? (isObject(additionalProperties) ? additionalProperties : undefined);
  return memberSchema === undefined ? [] : validate(member, memberSchema, join(path, key));
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function validateCombinations(value: unknown, schema: Schema, path: string): readonly Cause[] {
  const fits = (other: Schema): boolean => validate(value, other, path).length === 0;
  const causes = (schema.allOf ?? []).flatMap((other) => validate(value, other, path));
  if (schema.anyOf !== undefined && !schema.anyOf.some(fits)) {
    causes.push(invalidInBody(value, "must validate at least one schema (anyOf)", path));
  }
  if (schema.oneOf !== undefined && schema.oneOf.filter(fits).length !== 1) {
    causes.push(invalidInBody(value, "must validate one and only one schema (oneOf)", path));
  }
  if (schema.not !== undefined && fits(schema.not)) {
    causes.push(invalidInBody(value, "must not validate the schema (not)", path));
  }
  return causes;
}
