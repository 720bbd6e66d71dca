/** What a URL of the API is about. */
export interface RequestTarget {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Absent for cluster-scoped resources and for lists over all namespaces. */
  readonly namespace?: string;
  /** Absent for lists and POST. */
  readonly name?: string;
  readonly subresource?: string;
}

/** Subresources of a namespace itself; every other segment after its name is a resource in it. */
const NAMESPACE_SUBRESOURCES = ["status", "finalize"];

/** Reads `/api/v1/…` and `/apis/GROUP/VERSION/…`; undefined for every other path. Pure. */
export function requestTarget(path: string): RequestTarget | undefined {
  const match = /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)\/(?<rest>[^/].*?)\/?$/.exec(path)?.groups;
  if (match === undefined) return undefined;
  const { group = "", version = "" } = match;
  const rest = (match["rest"] ?? "").split("/");
  const inner = rest[2];
  const isScoped = rest[0] === "namespaces" && inner !== undefined && !NAMESPACE_SUBRESOURCES.includes(inner);
  const [plural = "", name, subresource, ...beyond] = isScoped ? rest.slice(2) : rest;
  if (beyond.length > 0) return undefined;
  return {
    group,
    version,
    plural,
    ...(isScoped ? { namespace: rest[1] ?? "" } : {}),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}
