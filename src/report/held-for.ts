import type { Reason } from "../model/reason.ts";

/** Returns the entries that are told with one of these reasons, in their order. Pure. */
export function toldWith<T extends { readonly reason: Reason }>(
  entries: readonly T[],
  reasons: readonly Reason[],
): readonly T[] {
  return entries.filter(({ reason }) => reasons.includes(reason));
}
