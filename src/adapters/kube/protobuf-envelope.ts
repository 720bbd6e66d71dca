import { asRecord } from "./json-value.ts";
import { decodeMessage, type Fields } from "./protobuf-message.ts";

/** What to ask for where a list is long: protobuf, which the server writes in half the time of JSON, or JSON from whoever has no other. */
export const PROTOBUF_OR_JSON = "application/vnd.kubernetes.protobuf, application/json";

/** The same for a watch, whose protobuf comes in frames that begin with their length. */
export const PROTOBUF_OR_JSON_EVENTS = "application/vnd.kubernetes.protobuf;stream=watch, application/json";

const MAGIC = Buffer.from("k8s\0");
const ENVELOPE: Fields = {
  1: { name: "typeMeta", kind: "message", fields: { 2: { name: "kind", kind: "text" } } },
  2: { name: "raw", kind: "bytes" },
};

/** A message as the API server wraps it. */
export interface Envelope {
  /** `PodList`, `Status`, … */
  readonly kind: string;
  readonly message: Buffer;
}

/**
 * What an answer in Kubernetes' protobuf holds; undefined when it is none, as the four bytes at its beginning tell. Pure.
 * @throws Error when it begins so and is broken.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding verified 2026-08-08
 */
export function openEnvelope(body: Buffer): Envelope | undefined {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const { typeMeta, raw } = decodeMessage(body.subarray(MAGIC.length), ENVELOPE);
  const kind = asRecord(typeMeta)?.["kind"];
  if (typeof kind !== "string") throw new Error("the envelope names no kind");
  return { kind, message: raw instanceof Buffer ? raw : Buffer.alloc(0) };
}
