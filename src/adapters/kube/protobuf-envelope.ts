import { Cursor } from "./protobuf-cursor.ts";

/** What to ask for where a list is long: protobuf, which the server writes in half the time of JSON, or JSON from whoever has no other. */
export const PROTOBUF_OR_JSON = "application/vnd.kubernetes.protobuf, application/json";

/** The same for a watch, whose protobuf comes in frames that begin with their length. */
export const PROTOBUF_OR_JSON_EVENTS = "application/vnd.kubernetes.protobuf;stream=watch, application/json";

const MAGIC = Buffer.from("k8s\0");
/** Fields of the envelope, and of the `typeMeta` in it. */
const TYPE_META = 1;
const KIND = 2;
const RAW = 2;
const NOTHING = Buffer.alloc(0);

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
  if (body.length < MAGIC.length || MAGIC.compare(body, 0, MAGIC.length) !== 0) return undefined;
  const envelope = new Cursor(body, MAGIC.length, body.length);
  const kind = envelope.find(TYPE_META)?.find(KIND)?.text() ?? "";
  if (kind === "") throw new Error("the envelope names no kind");
  return { kind, message: envelope.find(RAW)?.rest() ?? NOTHING };
}
