import { type ObjectRef, refKey } from "../model/action.ts";

/** Returns what finds the entries of one object, in their order: they are gone through once, not once for each object. Pure. */
export function byObject<T extends { readonly object: ObjectRef }>(
  entries: readonly T[],
): (key: string) => readonly T[] {
  const groups = Map.groupBy(entries, ({ object }) => refKey(object));
  return (key) => groups.get(key) ?? [];
}
