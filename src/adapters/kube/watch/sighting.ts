import type { ClusterChange } from "../../../ports/cluster.ts";
import { asRecord, asText, isCutOff, isOdd } from "../json-value.ts";
import { IDENTITY_FIELDS } from "../protobuf-fields.ts";
import { decodeItem } from "../protobuf-message.ts";

/** Names one version of one object. */
export interface Identity {
  /** See {@link keyOf}. */
  readonly key: string;
  readonly version: string;
}

/** One object as a list or an event shows it. */
export interface Sighting<T> extends Identity {
  /** Undefined for an object that is there and does not count, such as a pod without a node. */
  readonly facts: T | undefined;
  /** The same on two sightings of an object whose facts differ at most in their version; absent where nobody has made one. */
  readonly mark?: string;
}

/** Names an object within a list. Keys sort as namespaces do, then as names do. */
export function keyOf(meta: { readonly namespace?: string; readonly name: string }): string {
  return `${meta.namespace ?? ""}\0${meta.name}`;
}

/** The key for people. */
export function subjectOf(key: string): ClusterChange["subject"] {
  return key.startsWith("\0") ? key.slice(1) : key.replace("\0", "/");
}

/**
 * Key and resourceVersion of any object, in JSON or decoded from protobuf. Undefined if the name or the namespace cannot be read.
 * Metadata that ends too early may have lost its namespace, unless the resourceVersion is there: it comes after the namespace.
 */
export function identityOf(object: unknown): Identity | undefined {
  const metadata = asRecord(asRecord(object)?.["metadata"]);
  const name = asText(metadata?.["name"]);
  const namespace = asText(metadata?.["namespace"]) ?? "";
  const version = asText(metadata?.["resourceVersion"]) ?? "";
  const isMissing = namespace === "" && version === "" && isCutOff(metadata);
  const isUnsure = isMissing || isOdd(metadata?.["namespace"], asText);
  return name === undefined || isUnsure ? undefined : { key: keyOf({ namespace, name }), version };
}

/** Key and resourceVersion of an object in protobuf, without reading the rest. Undefined as for {@link identityOf}. */
export function packedIdentity(message: Buffer): Identity | undefined {
  return identityOf(decodeItem(message, IDENTITY_FIELDS));
}
