import type { ClusterChange } from "../../../ports/warm-cluster.ts";
import { asRecord, asText } from "../json-value.ts";
import { Cursor } from "../protobuf-cursor.ts";

/** One object as a list or an event shows it. */
export interface Sighting<T> {
  /** See {@link keyOf}. */
  readonly key: string;
  readonly version: string;
  /** Undefined for an object that is there and does not count, such as a pod without a node. */
  readonly facts: T | undefined;
  /** The same on two sightings of an object whose facts differ at most in their version; absent where nobody has made one. */
  readonly mark?: string;
}

/** Fields of any object, and of its ObjectMeta (generated.proto of k8s.io/apimachinery v0.35.4, verified 2026-11). */
const METADATA = 1;
const NAME = 1;
const NAMESPACE = 3;
const RESOURCE_VERSION = 6;

/** Names an object within a list. Keys sort as namespaces do, then as names do. */
export function keyOf(meta: { readonly namespace?: string; readonly name: string }): string {
  return `${meta.namespace ?? ""}\0${meta.name}`;
}

/** The key for people. */
export function subjectOf(key: string): ClusterChange["subject"] {
  return key.startsWith("\0") ? key.slice(1) : key.replace("\0", "/");
}

/** Key and resourceVersion of any object, in JSON or decoded from protobuf; undefined for one without a name. */
export function identityOf(object: unknown): Pick<Sighting<never>, "key" | "version"> | undefined {
  const metadata = asRecord(asRecord(object)?.["metadata"]);
  const name = asText(metadata?.["name"]);
  if (name === undefined) return undefined;
  const key = keyOf({ namespace: asText(metadata?.["namespace"]) ?? "", name });
  return { key, version: asText(metadata?.["resourceVersion"]) ?? "" };
}

/** The same of an object in protobuf of which nothing else is read. @throws Error when the bytes end too early. */
export function packedIdentity(message: Buffer): Pick<Sighting<never>, "key" | "version"> | undefined {
  const metadata = new Cursor(message, 0, message.length).find(METADATA);
  const name = metadata?.find(NAME)?.text() ?? "";
  if (metadata === undefined || name === "") return undefined;
  const key = keyOf({ namespace: metadata.find(NAMESPACE)?.text() ?? "", name });
  return { key, version: metadata.find(RESOURCE_VERSION)?.text() ?? "" };
}
