import type { Pool, RecordSet } from "./resource.ts";

/** Returns true for an object that is being deleted and whose status still calls it ready. Pure. */
export function claimsReady({ meta, status }: Pool | RecordSet): boolean {
  return meta.isDeleting && status.conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
}
