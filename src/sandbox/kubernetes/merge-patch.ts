import { isObject, type JSONObject } from "./json-object.ts";

/**
 * The value after a JSON merge patch: null removes a member, objects merge, anything else replaces. Pure.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7396 (verified 2026-08)
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, unknown>(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch) satisfies readonly (readonly [string, unknown])[]) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged) satisfies JSONObject;
}
