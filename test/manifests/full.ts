/** Fields of a status that are not stored: other fields tell them. */
type Told = "fault" | "hasAddresses";

/** `T` with every field present at every depth and every list filled: the compiler names a field that is missing. */
export type Full<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Entry)[]
    ? readonly [Full<Entry>, ...Full<Entry>[]]
    : { readonly [Key in Exclude<keyof T, Told>]-?: Full<Exclude<T[Key], undefined>> };
