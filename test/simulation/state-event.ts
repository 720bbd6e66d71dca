/** Something that happens to what one run leaves for the next, behind everybody's back. */
export type StateEvent = { readonly atMs: number } & (
  | {
      readonly kind: "spoil-status";
      readonly object: "pools" | "recordSets" | "routedIPs";
      readonly name: string;
      /** One field is lost, or all times in it are an hour ahead. */
      readonly how: "lose" | "future";
      readonly pick: number;
    }
  | { readonly kind: "spoil-lease"; readonly how: "lose" | "garbage" | "future" }
);
