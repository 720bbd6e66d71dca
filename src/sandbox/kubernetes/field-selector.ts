import { valueAt } from "./json-object.ts";
import type { KubeObject } from "./kube-object.ts";
import type { ResourceType } from "./resource-type.ts";
import { badRequest } from "./status-error.ts";

/** Fields that count as `false` when absent. */
const FLAGS: readonly string[] = ["spec.unschedulable", "spec.hostNetwork"];

interface Term {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/**
 * A test for a field selector: `=`, `==` and `!=`, joined by commas that mean AND.
 *
 * @throws StatusError 400 for a term that cannot be read or a field this resource cannot be selected by.
 */
export function fieldSelector(type: ResourceType, text: string): (object: KubeObject) => boolean {
  const terms = text === "" ? [] : text.split(",").map(parseTerm);
  const fields = ["metadata.name", ...(type.isNamespaced ? ["metadata.namespace"] : []), ...type.selectableFields];
  for (const { field } of terms) {
    if (!fields.includes(field)) throw badRequest(`field label not supported: ${field}`);
  }
  return (object) => terms.every(({ field, isEqual, value }) => (textOf(object, field) === value) === isEqual);
}

function parseTerm(term: string): Term {
  const match = /^([^=!]+)(!=|==|=)(.*)$/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = "", operator, value = ""] = match;
  return { field, isEqual: operator !== "!=", value };
}

function textOf(object: KubeObject, field: string): string {
  const value = valueAt(object, ...field.split(".")) ?? (FLAGS.includes(field) ? false : "");
  return String(value);
}
