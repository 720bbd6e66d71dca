/** Something that happens to whose work an object is. */
export type ShardEvent = { readonly atMs: number } & {
  readonly kind: "give";
  readonly object: "pools" | "recordSets";
  readonly name: string;
  /** The label that it gets; null = it loses its own. */
  readonly shard: string | null;
};
