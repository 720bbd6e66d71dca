/** Something that happens to one process, or to its machine. */
export type ProcessEvent = { readonly atMs: number } & (
  | { readonly kind: "kill"; readonly slot: number }
  | { readonly kind: "leap"; readonly slot: number; readonly ms: number }
  /** It is asked to end, as SIGTERM does, and is not started again for so long. */
  | { readonly kind: "stop"; readonly slot: number; readonly ms: number }
  | { readonly kind: "read"; readonly skewMs: number }
);
