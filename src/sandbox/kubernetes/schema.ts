import { isIPv4, isIPv6 } from "node:net";
import { canonicalJSON, isObject, type JSONObject, valueAt } from "./object-store.ts";
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

/** A cause in the words of the API server's schema validation. */
function invalidInBody(value: unknown, why: string, path: string): Cause {
  const message = `Invalid value: ${JSON.stringify(value)}: ${path} in body ${why}`;
  return { reason: "FieldValueInvalid", message, field: path };
}

/** What a text violates of length, pattern and format. Pure. */
function validateText(value: string, schema: Schema, path: string): readonly Cause[] {
  const { pattern, format, minLength, maxLength } = schema;
  const length = Array.from(value).length;
  const causes: Cause[] = [];
  if (maxLength !== undefined && length > maxLength) {
    const message = `Too long: may not be more than ${maxLength} bytes`;
    causes.push({ reason: "FieldValueTooLong", message, field: path });
  }
  if (minLength !== undefined && length < minLength) {
    causes.push(invalidInBody(value, `should be at least ${minLength} chars long`, path));
  }
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) {
    causes.push(invalidInBody(value, `should match '${pattern}'`, path));
  }
  if (format !== undefined && !hasFormat(value, format)) {
    causes.push(invalidInBody(value, `must be of type ${format}: ${JSON.stringify(value)}`, path));
  }
  return causes;
}

const INTEGER_LIMITS: ReadonlyMap<string, number> = new Map<string, number>(
  Object.entries({ int32: 2 ** 31, int64: 2 ** 63 }),
);

/** What a number violates of bounds, step and integer format. Pure. */
function validateNumber(value: number, schema: Schema, path: string): readonly Cause[] {
  const { multipleOf, format = "" } = schema;
  const limit = INTEGER_LIMITS.get(format);
  const wrong = [
    belowMinimum(value, schema),
    aboveMaximum(value, schema),
    multipleOf !== undefined && value % multipleOf !== 0 ? `should be a multiple of ${multipleOf}` : undefined,
    limit !== undefined && (value >= limit || value < -limit) ? `must be of type ${format}: "${value}"` : undefined,
  ];
  return wrong.flatMap((why) => (why === undefined ? [] : [invalidInBody(value, why, path)]));
}

function belowMinimum(value: number, { minimum, exclusiveMinimum }: Schema): string | undefined {
  if (minimum === undefined) return undefined;
  if (exclusiveMinimum === true) return value <= minimum ? `should be greater than ${minimum}` : undefined;
  return value < minimum ? `should be greater than or equal to ${minimum}` : undefined;
}

function aboveMaximum(value: number, { maximum, exclusiveMaximum }: Schema): string | undefined {
  if (maximum === undefined) return undefined;
  if (exclusiveMaximum === true) return value >= maximum ? `should be less than ${maximum}` : undefined;
  return value > maximum ? `should be less than or equal to ${maximum}` : undefined;
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const HOSTNAME =
  /^(?=.{1,255}$)[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*\.?$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** The text formats that are checked; Kubernetes ignores the ones it does not know, and so does this. */
const CHECKS: ReadonlyMap<string, (value: string) => boolean> = new Map<string, (value: string) => boolean>(
  Object.entries({
    "date-time": (value) => DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
    date: (value) => DATE.test(value) && !Number.isNaN(Date.parse(value)),
    ipv4: isIPv4,
    ipv6: isIPv6,
    hostname: (value) => HOSTNAME.test(value),
    uuid: (value) => UUID.test(value),
    byte: (value) => /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0,
  }),
);

/** True when a text has the format, or the format is not one that is checked. */
function hasFormat(value: string, format: string): boolean {
  const check = CHECKS.get(format);
  return check === undefined || check(value);
}

/**
 * A structural schema of a CustomResourceDefinition, as far as it is applied here. `x-kubernetes-validations` (CEL) rules
 * are not evaluated: an object that only such a rule would refuse is accepted.
 */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: Schema;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
}
