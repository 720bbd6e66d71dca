/** A provider as the program may use it: ready, or without the token it needs. `variables` are those that would supply one. */
export type ProviderAccess<P> =
  | { readonly kind: "usable"; readonly provider: P }
  | { readonly kind: "no-token"; readonly name: string; readonly variables: readonly string[] };
