/** A decoded JSON object that nobody changes in place. */
export type JSONObject = Readonly<Record<string, unknown>>;

/** True for a JSON object; false for null, arrays and scalars. */
export function isObject(value: unknown): value is JSONObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path of keys; undefined when any step is missing. */
export function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  let current = value;
  for (const key of keys) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** The object at a path of keys; `{}` when there is none. */
export function objectAt(value: unknown, ...keys: readonly string[]): JSONObject {
  const found = valueAt(value, ...keys);
  return isObject(found) ? found : {};
}

/** The text at a path of keys; `""` when there is none. */
export function textAt(value: unknown, ...keys: readonly string[]): string {
  const found = valueAt(value, ...keys);
  return typeof found === "string" ? found : "";
}

/** The array at a path of keys; `[]` when there is none. */
export function arrayAt(value: unknown, ...keys: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...keys);
  return Array.isArray(found) ? found : [];
}

/** A copy without these keys; the order of the others stays. */
export function omit(object: JSONObject, ...keys: readonly string[]): JSONObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** A copy without the keys whose value is undefined. */
export function compact(object: JSONObject): JSONObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
