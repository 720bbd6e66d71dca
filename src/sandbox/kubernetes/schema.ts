import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { canonicalJSON, isObject, valueAt } from "./object-store.ts";

/**
 * A structural schema of a CustomResourceDefinition, as far as it is applied here. `x-kubernetes-validations` (CEL) rules
 * and formats are not evaluated: an object that only they would refuse is accepted.
 */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  /** Every other keyword is checked as JSON Schema has it. */
  readonly [keyword: string]: unknown;
}

/** One reason why an object is invalid. */
export interface Cause {
  /** `FieldValueInvalid`, `FieldValueRequired`, … */
  readonly reason: string;
  /** Without the field's name. */
  readonly message: string;
  /** `spec.ips[0]`. */
  readonly field: string;
}

const compiled = new WeakMap<Schema, ValidateFunction>();

/** What a value violates; empty when it is valid. `path` is that of the value within its object. */
export function validate(value: unknown, schema: Schema, path: string): readonly Cause[] {
  const check = compiled.get(schema) ?? compile(schema);
  compiled.set(schema, check);
  const isValid = check(value);
  return [
    ...(isValid ? [] : (check.errors ?? []).map((error) => causeOf(error, path))),
    ...findTwins(value, schema, path),
  ];
}

function compile(schema: Schema): ValidateFunction {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true, ownProperties: true });
  ajv.addKeyword({
    keyword: "x-kubernetes-int-or-string",
    validate: (isEither: unknown, value: unknown) =>
      isEither !== true || Number.isInteger(value) || typeof value === "string",
  });
  return ajv.compile(schema);
}

/** The API server's words for what a keyword refuses; `FieldValueInvalid` for all others. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["required", "FieldValueRequired"],
  ["type", "FieldValueTypeInvalid"],
  ["enum", "FieldValueNotSupported"],
  ["maxLength", "FieldValueTooLong"],
  ["maxItems", "FieldValueTooMany"],
  ["maxProperties", "FieldValueTooMany"],
]);

function causeOf({ instancePath, keyword, params, message = "is invalid" }: ErrorObject, path: string): Cause {
  const keys = instancePath.split("/").slice(1);
  const missing: unknown = params["missingProperty"];
  const all = typeof missing === "string" ? [...keys, missing] : keys;
  const field = all.reduce((text, key) => (/^\d+$/.test(key) ? `${text}[${key}]` : join(text, key)), path);
  const why =
    keyword === "required" ? "Required value" : `Invalid value: ${message}${allowedText(params["allowedValues"])}`;
  return { reason: REASONS.get(keyword) ?? "FieldValueInvalid", message: why, field };
}

function allowedText(values: unknown): string {
  return Array.isArray(values) ? `: ${values.join(", ")}` : "";
}

/** Items that a list of type `set` or `map` has twice, at whatever depth. */
function findTwins(value: unknown, schema: Schema, path: string): readonly Cause[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const within = items === undefined ? [] : value.flatMap((item, at) => findTwins(item, items, `${path}[${at}]`));
    return [...twinsOf(value, schema, path), ...within];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const own = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
    return own === undefined ? [] : findTwins(member, own, join(path, key));
  });
}

function twinsOf(items: readonly unknown[], schema: Schema, path: string): readonly Cause[] {
  const listType = schema["x-kubernetes-list-type"];
  if (listType !== "map" && listType !== "set") return [];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const identities = items.map((item) =>
    canonicalJSON(listType === "map" ? keys.map((key) => valueAt(item, key)) : item),
  );
  return identities.flatMap((identity, at) =>
    identities.indexOf(identity) === at
      ? []
      : [{ reason: "FieldValueDuplicate", message: `Duplicate value: ${identity}`, field: `${path}[${at}]` }],
  );
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
