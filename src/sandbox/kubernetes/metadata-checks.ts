import { isObject, type JSONObject } from "./json-object.ts";
import type { ResourceType } from "./resource-type.ts";
import type { Cause } from "./status-error.ts";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const NAME_LABEL = new RegExp(`^${LABEL}$`);
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

function invalidValue(field: string, value: unknown, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field };
}

/** What is wrong with the metadata of an object that is to be stored; empty when nothing is. Pure. */
export function checkMetadata(metadata: JSONObject, type: ResourceType): readonly Cause[] {
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
    const message = "Required value: name or generateName is required";
    return [{ reason: "FieldValueRequired", message, field: "metadata.name" }];
  }
  const isLabel = type.plural === "namespaces" || type.plural === "services";
  const limit = isLabel ? 63 : 253;
  if (name.length > limit) return [invalidValue("metadata.name", name, `must be no more than ${limit} bytes`)];
  const rule = isLabel ? NAME_LABEL : SUBDOMAIN;
  return rule.test(name) ? [] : [invalidValue("metadata.name", name, isLabel ? NAME_LABEL_RULE : SUBDOMAIN_RULE)];
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
export function findWrongMetadataType(metadata: unknown): string | undefined {
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
