/** Something that is to be so by now, beside what is wrong in the world. */
export type Expectation = { readonly atMs: number } /** The address is on one of these droplets. */ & (
  | { readonly kind: "expect-on"; readonly ip: string; readonly droplets: readonly number[] }
  /** From now on calls to providers, and written statuses, are counted. */
  | { readonly kind: "count-calls" }
  /** No more than so many were made since, and no more statuses were written than that. */
  | { readonly kind: "expect-calls"; readonly most: number; readonly mostStatuses: number }
);
