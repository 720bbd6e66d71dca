import { isNamespaceName, isSubdomain } from "../model/resource.ts";

/** A field of `metadata` that the API server refuses, and what is said of it. */
export interface RefusedName {
  readonly field: "name" | "namespace";
  /** `wants lower case letters, digits and -, not "A/b"`. */
  readonly message: string;
}

/** Returns what the API server refuses of an object's name and namespace. What is no text, or is not there, is not looked at. Pure. */
export function refusedNames({ name, namespace }: Readonly<Record<string, unknown>>): readonly RefusedName[] {
  const refused = (field: RefusedName["field"], wanted: string, value: string): RefusedName => ({
    field,
    message: `wants ${wanted}, not ${JSON.stringify(value)}`,
  });
  return [
    ...(typeof name === "string" && !isSubdomain(name)
      ? [refused("name", "lower case letters, digits, - and .", name)]
      : []),
    ...(typeof namespace === "string" && namespace !== "" && !isNamespaceName(namespace)
      ? [refused("namespace", "lower case letters, digits and -", namespace)]
      : []),
  ];
}
