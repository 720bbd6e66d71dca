import { type AcquisitionNote, EMPTY_NOTE } from "../../model/acquisition-memory.ts";
import { canonicalAddress } from "../../model/address.ts";
import { APPROVED_ANNOTATION, parseApproval } from "../../model/approval.ts";
import type { Readiness } from "../../model/node.ts";
import { ACQUIRED_ANNOTATION, type ObjectMeta } from "../../model/resource.ts";
import { parseSuspension, SUSPEND_ANNOTATION } from "../../model/suspension.ts";
import { asInteger, asRecord, asText, asTextMap, asTexts, asTimeMs, isCutOff, isPresent } from "./json.ts";
import type { Field, Fields } from "./protobuf.ts";

// What objects of several kinds have: metadata with flipop's annotation, and conditions.

/**
 * Returns the metadata of a Kubernetes object; undefined if the value is no object or has no name, which no API server answers. An object with a `deletionTimestamp` is
 * being deleted, even if the time cannot be read.
 */
export function decodeMeta(object: unknown): ObjectMeta | undefined {
  const metadata = asRecord(asRecord(object)?.["metadata"]);
  const name = asText(metadata?.["name"]);
  if (metadata === undefined || name === undefined) return undefined;
  const uid = asText(metadata["uid"]) ?? "";
  const annotations = asRecord(metadata["annotations"]);
  const note = decodeNote(uid, asText(annotations?.[ACQUIRED_ANNOTATION]));
  const suspend = annotations?.[SUSPEND_ANNOTATION];
  const approved = annotations?.[APPROVED_ANNOTATION];
  return {
    namespace: asText(metadata["namespace"]) ?? "",
    name,
    uid,
    resourceVersion: asText(metadata["resourceVersion"]) ?? "",
    generation: asInteger(metadata["generation"]) ?? 0,
    createdAtMs: asTimeMs(metadata["creationTimestamp"]) ?? 0,
    isDeleting: isPresent(metadata["deletionTimestamp"]),
    finalizers: asTexts(metadata["finalizers"]),
    labels: asTextMap(metadata["labels"]),
    ...(note.ips.length === 0 && note.pending.length === 0 ? {} : { note }),
    ...(typeof suspend !== "string" ? {} : { suspension: parseSuspension(suspend) }),
    ...(typeof approved !== "string" ? {} : { approval: parseApproval(approved) }),
  };
}

const PENDING = "pending=";
const PROVIDER = "provider=";

/** The text of the annotation `flipop.digitalocean.com/acquired`, for the object with this uid; null where there is nothing to tell. */
export function encodeNote(uid: string, { ips, pending, provider }: AcquisitionNote): string | null {
  if (ips.length === 0 && pending.length === 0) return null;
  const at = provider === undefined || /\s/.test(provider) ? [] : [`${PROVIDER}${provider}`];
  return [uid, ...ips, ...pending.map((place) => `${PENDING}${place}`), ...at].join(" ");
}

/** What the annotation of the object with this uid tells; nothing for that of another object. What is neither address nor place is passed over. Never throws. */
export function decodeNote(uid: string, text: string | undefined): AcquisitionNote {
  const [owner, ...words] = (text ?? "").split(/\s+/);
  if (uid === "" || owner !== uid) return EMPTY_NOTE;
  const after = (sign: string): readonly string[] =>
    words.filter((word) => word.startsWith(sign)).map((word) => word.slice(sign.length));
  const [provider = ""] = after(PROVIDER);
  return {
    ips: [...new Set(words.filter((word) => canonicalAddress(word) === word))],
    pending: after(PENDING),
    ...(provider === "" ? {} : { provider }),
  };
}

/** How protobuf numbers the fields of `metadata` that are read of anything (apimachinery v0.35.4, meta/v1/generated.proto). */
const METADATA: Readonly<Record<MetadataPart, readonly [number, Field]>> = {
  name: [1, { name: "name", kind: "text" }],
  namespace: [3, { name: "namespace", kind: "text" }],
  resourceVersion: [6, { name: "resourceVersion", kind: "text", isVersion: true }],
  deletionTimestamp: [9, { name: "deletionTimestamp", kind: "time", isSign: true }],
  deletionGracePeriodSeconds: [10, { name: "deletionGracePeriodSeconds", kind: "number" }],
  labels: [11, { name: "labels", kind: "text-map" }],
  annotations: [12, { name: "annotations", kind: "text-map" }],
};

type MetadataPart =
  | "name"
  | "namespace"
  | "resourceVersion"
  | "deletionTimestamp"
  | "deletionGracePeriodSeconds"
  | "labels"
  | "annotations";

/** Returns how `metadata` is read in protobuf: these fields of it, and always its name and version. */
export function metadataField(...wanted: readonly MetadataPart[]): Field {
  const names: readonly MetadataPart[] = ["name", "resourceVersion", ...wanted];
  return { name: "metadata", kind: "message", fields: Object.fromEntries(names.map((name) => METADATA[name])) };
}

/** What is read of a condition in protobuf: of a node's, and, since its numbers are the same by chance, of a pod's. */
export const CONDITION_FIELDS: Fields = {
  1: { name: "type", kind: "text" },
  2: { name: "status", kind: "text" },
  4: { name: "lastTransitionTime", kind: "time" },
};

/**
 * The `Ready` condition among a node's or a pod's `status.conditions`. Ready is exactly the text `True`; without the
 * condition it is not ready, since an unknown time. Undefined if that condition, or a condition of unreadable type, cannot be read.
 */
export function decodeReadiness(conditions: unknown): Readiness | undefined {
  if (!isPresent(conditions)) return { isReady: false };
  if (!Array.isArray(conditions)) return undefined;
  for (const entry of conditions) {
    const condition = asRecord(entry);
    if (condition?.["type"] !== "Ready") continue;
    const status = condition["status"];
    if (typeof status !== "string" && (isPresent(status) || isCutOff(condition))) return undefined;
    const sinceMs = asTimeMs(condition["lastTransitionTime"]);
    return { isReady: status === "True", ...(sinceMs === undefined ? {} : { sinceMs }) };
  }
  return conditions.some(mayBeReady) ? undefined : { isReady: false };
}

/** True for an entry whose type cannot be read. */
function mayBeReady(entry: unknown): boolean {
  const condition = asRecord(entry);
  const type = condition?.["type"];
  return condition === undefined || (typeof type !== "string" && (isPresent(type) || isCutOff(condition)));
}
