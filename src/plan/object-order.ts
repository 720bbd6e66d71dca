import { type ObjectMeta, objectKey } from "../model/resource.ts";

/** Orders objects by seniority: creation time, then namespace/name. The senior one wins a claim among newcomers. */
export function bySeniority(a: { readonly meta: ObjectMeta }, b: { readonly meta: ObjectMeta }): number {
  return a.meta.createdAtMs - b.meta.createdAtMs || compareText(objectKey(a.meta), objectKey(b.meta));
}

/** Orders text by code unit, the same everywhere, unlike a locale's order. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
