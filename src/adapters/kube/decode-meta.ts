import { ACQUIRED_ANNOTATION, type ObjectMeta } from "../../model/resource.ts";
import { asInteger, asRecord, asText, asTextMap, asTexts, asTimeMs, isPresent } from "./json-value.ts";
import { decodeNote } from "./note-codec.ts";

/** `metadata` of a Kubernetes object; undefined when the value is no object or has no name, which no API server answers. Any `deletionTimestamp` means that the object is being deleted, an unreadable one too. */
export function decodeMeta(object: unknown): ObjectMeta | undefined {
  const metadata = asRecord(asRecord(object)?.["metadata"]);
  const name = asText(metadata?.["name"]);
  if (metadata === undefined || name === undefined) return undefined;
  const uid = asText(metadata["uid"]) ?? "";
  const note = decodeNote(uid, asText(asRecord(metadata["annotations"])?.[ACQUIRED_ANNOTATION]));
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
  };
}
