import { arrayAt, isObject, type JSONObject, textAt, valueAt } from "./json-object.ts";
import { apiVersionOf, type ResourceType } from "./resource-type.ts";
import { badRequest, type Cause, type StatusError } from "./status-error.ts";

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
