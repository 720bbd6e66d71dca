import { isObject } from "./json-object.ts";

/** JSON text with sorted keys: equal for equal values, whatever order their keys came in. Undefined members are left out. */
export function canonicalJSON(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJSON(item ?? null)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJSON(value[key])}`);
  return `{${members.join(",")}}`;
}
