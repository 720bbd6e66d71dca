/** An object of flipop, as it would be applied. */
export interface TriedObject {
  readonly of: "pool" | "routedip" | "dns" | "issuer";
  readonly namespace: string;
  readonly name: string;
  /** As it stands in its file. */
  readonly object: Readonly<Record<string, unknown>>;
}

/** What an API server says of an object. `unknown`: whoever asks may not ask, or the server cannot be asked so. */
export type Tried =
  | { readonly kind: "taken" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string };

/** Asks an API server whether it would take objects. Nothing is ever stored. */
export interface ObjectTrial {
  /** Would it take this object? Labels, annotations and spec are tried; of an object that is there, fields that the file lacks stay. @throws KubeError where nobody answers */
  tryObject(object: TriedObject): Promise<Tried>;
}
