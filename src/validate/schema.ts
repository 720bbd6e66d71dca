import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { FindingCode } from "../model/finding.ts";
import { nearest } from "../model/nearest.ts";
import type { Path } from "./documents.ts";

/** A part of a CustomResourceDefinition's schema, as far as it is looked at here; ajv reads the rest. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly [keyword: string]: unknown;
}

/** What a schema says against one value of an object. */
export interface SchemaFault {
  readonly code: FindingCode;
  readonly path: Path;
  /** True where the name of the field is meant, not its value. */
  readonly isOfKey: boolean;
  readonly message: string;
}

/** The schema of one kind, ready to be applied. */
export interface KindSchema {
  /** As the API server writes it: `v1alpha1`. */
  readonly version: string;
  readonly faultsOf: (object: unknown) => readonly SchemaFault[];
}

/** Returns the schema of each kind by its name, from the values of the shipped definitions. */
export function kindSchemas(definitions: readonly unknown[]): ReadonlyMap<string, KindSchema> {
  return new Map(definitions.map((definition) => kindSchema(definition as Definition)));
}

/** A CustomResourceDefinition, as far as it is needed. */
interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

function kindSchema({ spec: { names, versions } }: Definition): readonly [string, KindSchema] {
  const [served] = versions;
  if (served === undefined) throw new Error(`the definition of ${names.kind} has no version`);
  const schema = withMetadata(served.schema.openAPIV3Schema);
  let check: ValidateFunction | undefined;
  const faultsOf = (object: unknown): readonly SchemaFault[] => {
    check ??= compile(schema);
    const isValid = check(object);
    const faults = isValid ? [] : (check.errors ?? []).map((error) => faultOf(error, object));
    return firstOfEach([...faults, ...unknownFields(object, schema, [])]);
  };
  return [names.kind, { version: served.name, faultsOf }];
}

const TEXTS: Schema = { type: "object", nullable: true, additionalProperties: { type: "string" } };

/** The fields of metadata that a manifest may have; definitions leave them to the API server. */
const METADATA: Schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    generateName: { type: "string" },
    namespace: { type: "string" },
    labels: TEXTS,
    annotations: TEXTS,
    finalizers: { type: "array", nullable: true, items: { type: "string" } },
    ownerReferences: { "x-kubernetes-preserve-unknown-fields": true },
    managedFields: { "x-kubernetes-preserve-unknown-fields": true },
    creationTimestamp: {},
    deletionTimestamp: {},
    deletionGracePeriodSeconds: {},
    generation: {},
    resourceVersion: {},
    selfLink: {},
    uid: {},
  },
};

/** The status is not looked at: the API server takes none with an object. */
function withMetadata(schema: Schema): Schema {
  const { type, required, properties } = schema;
  return {
    type: type ?? "object",
    required: [...new Set([...((required as readonly string[] | undefined) ?? []), "metadata", "spec"])],
    properties: {
      ...properties,
      metadata: METADATA,
      status: { "x-kubernetes-preserve-unknown-fields": true },
    },
  };
}

function compile(schema: Schema): ValidateFunction {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true, ownProperties: true, verbose: true });
  ajv.addKeyword({
    keyword: "x-kubernetes-int-or-string",
    validate: (isEither: unknown, value: unknown) =>
      isEither !== true || Number.isInteger(value) || typeof value === "string",
  });
  return ajv.compile(schema);
}

/** Several rules may refuse one value: the first says enough. */
function firstOfEach(faults: readonly SchemaFault[]): readonly SchemaFault[] {
  const byPath = new Map<string, SchemaFault>();
  for (const fault of faults) {
    const key = JSON.stringify(fault.path);
    if (!byPath.has(key)) byPath.set(key, fault);
  }
  return [...byPath.values()];
}

function faultOf(
  { instancePath, keyword, params, parentSchema, data, message }: ErrorObject,
  object: unknown,
): SchemaFault {
  const path = pathOf(instancePath, object);
  const missing: unknown = params["missingProperty"];
  if (keyword === "required" && typeof missing === "string")
    return fault("FLP203", [...path, missing], "is required", true);
  const schema = parentSchema as Schema;
  const ofKeyword = keyword === "type" || keyword.startsWith("x-") ? "FLP201" : "FLP202";
  const code = isPort(path) ? "FLP226" : ofKeyword;
  const wanted = isPort(path)
    ? 'a port, a range such as "8000-9000", or "all"'
    : wantedBy(keyword, schema, message ?? "another value");
  // What is written as nothing lacks its value.
  if (keyword === "minLength") return fault("FLP203", path, "must not be empty");
  return fault(code, path, `wants ${wanted}, not ${shownValue(data)}${hintOf(keyword, schema, data)}`);
}

function fault(code: FindingCode, path: Path, message: string, isOfKey = false): SchemaFault {
  return { code, path, message, isOfKey };
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ["integer", "a whole number"],
  ["number", "a number"],
  ["string", "text"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
]);

/** What a rule wants, in words. */
function wantedBy(keyword: string, schema: Schema, message: string): string {
  const limit = schema[keyword];
  switch (keyword) {
    case "type":
      return TYPES.get(schema.type ?? "") ?? String(schema.type);
    case "x-kubernetes-int-or-string":
      return "a whole number or text";
    case "enum":
      return (limit as readonly unknown[]).map(String).join(" or ");
    case "minimum":
      return `at least ${limit}`;
    case "maximum":
      return `at most ${limit}`;
    case "maxItems":
      return `at most ${limit} entries`;
    case "maxLength":
      return `at most ${limit} characters`;
    case "pattern":
      return `a text of the form ${limit}`;
    default:
      return message;
  }
}

function hintOf(keyword: string, schema: Schema, data: unknown): string {
  const isWord = keyword === "enum" && typeof data === "string";
  return isWord ? meantWord(data, (schema["enum"] as readonly unknown[]).map(String)) : "";
}

/** Returns `. Did you mean podLabel?`; `""` where none of the words is near. */
export function meantWord(text: string, words: readonly string[]): string {
  const meant = words.find((word) => word.toLowerCase() === text.toLowerCase()) ?? nearest(text, words);
  return meant === undefined ? "" : `. Did you mean ${meant}?`;
}

function isPort(path: Path): boolean {
  return path[0] === "spec" && path[1] === "ports" && path[3] === "port";
}

const LONGEST_SHOWN = 40;

/** A value as people can compare it with their file; of a long one only what it is. */
export function shownValue(value: unknown): string {
  const json = JSON.stringify(value) ?? "nothing";
  if (json.length <= LONGEST_SHOWN) return json;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === "object" ? "an object" : `a text of ${String(value).length} characters`;
}

/** The steps of a JSON pointer; those into lists are numbers. */
function pathOf(pointer: string, object: unknown): Path {
  const path: (string | number)[] = [];
  let at = object;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const step = Array.isArray(at) ? Number(name) : name;
    path.push(step);
    at = (at as Readonly<Record<string | number, unknown>> | undefined)?.[step];
  }
  return path;
}

/** Fields that the schema does not know, at whatever depth; the API server leaves them out. */
function unknownFields(value: unknown, schema: Schema, path: Path): readonly SchemaFault[] {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value))
    return items === undefined ? [] : value.flatMap((one, at) => unknownFields(one, items, [...path, at]));
  if (typeof value !== "object" || value === null || properties === undefined) return [];
  if (additionalProperties !== undefined) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) return unknownFields(member, known, [...path, name]);
    const message = `unknown field; the API server drops it silently${meantWord(name, Object.keys(properties))}`;
    return [fault("FLP204", [...path, name], message, true)];
  });
}
