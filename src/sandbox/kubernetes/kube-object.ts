import { formatTime } from "../../model/time.ts";

/** `metadata` of a stored object; the server's own fields are always there. */
export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  /** RFC 3339, whole seconds. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly [key: string]: unknown;
}

/** A stored Kubernetes object. Never changed in place: a write stores a new one. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [key: string]: unknown;
}

/** The key of an object within its resource: `NAMESPACE/NAME`, or `NAME` when it is cluster-scoped. Sorts as etcd does. */
export function keyOf(metadata: { readonly namespace?: unknown; readonly name?: unknown }): string {
  const name = String(metadata.name ?? "");
  return typeof metadata.namespace === "string" && metadata.namespace !== "" ? `${metadata.namespace}/${name}` : name;
}

/** A time as Kubernetes writes it in metadata: RFC 3339, whole seconds. */
export function timestamp(ms: number): string {
  return formatTime(ms).replace(/\.\d{3}Z$/, "Z");
}
