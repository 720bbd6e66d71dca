import { Cursor, type Fields } from "./protobuf.ts";

// Field numbers of the messages that are read, from generated.proto of k8s.io/api and k8s.io/apimachinery v0.35.4 (verified
// 2026-08-08). Kubernetes never reuses or renumbers a field. Names are those of the JSON: whatever decode-node.ts,
// decode-pod.ts, decode-service.ts and decode-endpoint-slice.ts look at must stand here.

const CONDITION_IN_NODE: Fields = {
  1: { name: "type", kind: "text" },
  2: { name: "status", kind: "text" },
  4: { name: "lastTransitionTime", kind: "time" },
};
/** Of the same numbers, by chance: here 3 is `lastProbeTime`. */
const CONDITION_IN_POD: Fields = CONDITION_IN_NODE;

const TAINT: Fields = {
  1: { name: "key", kind: "text" },
  2: { name: "value", kind: "text" },
  3: { name: "effect", kind: "text" },
  4: { name: "timeAdded", kind: "time" },
};

/** The fields that name an object and its version. */
export const IDENTITY_FIELDS: Fields = {
  1: {
    name: "metadata",
    kind: "message",
    fields: {
      1: { name: "name", kind: "text" },
      3: { name: "namespace", kind: "text" },
      6: { name: "resourceVersion", kind: "text" },
    },
  },
};

/** What is read of a Node. */
export const NODE_FIELDS: Fields = {
  1: {
    name: "metadata",
    kind: "message",
    fields: {
      1: { name: "name", kind: "text" },
      6: { name: "resourceVersion", kind: "text", isVersion: true },
      9: { name: "deletionTimestamp", kind: "time", isSign: true },
      11: { name: "labels", kind: "text-map" },
      12: { name: "annotations", kind: "text-map" },
    },
  },
  2: {
    name: "spec",
    kind: "message",
    fields: {
      3: { name: "providerID", kind: "text" },
      5: { name: "taints", kind: "messages", fields: TAINT },
    },
  },
  3: {
    name: "status",
    kind: "message",
    fields: {
      4: { name: "conditions", kind: "messages", fields: CONDITION_IN_NODE },
      5: {
        name: "addresses",
        kind: "messages",
        fields: { 1: { name: "type", kind: "text" }, 2: { name: "address", kind: "text" } },
      },
    },
  },
};

/** What is read of a Pod. */
export const POD_FIELDS: Fields = {
  1: {
    name: "metadata",
    kind: "message",
    fields: {
      1: { name: "name", kind: "text" },
      3: { name: "namespace", kind: "text" },
      6: { name: "resourceVersion", kind: "text" },
      9: { name: "deletionTimestamp", kind: "time", isSign: true },
      10: { name: "deletionGracePeriodSeconds", kind: "number" },
    },
  },
  2: { name: "spec", kind: "message", fields: { 10: { name: "nodeName", kind: "text" } } },
  3: {
    name: "status",
    kind: "message",
    fields: {
      1: { name: "phase", kind: "text" },
      2: { name: "conditions", kind: "messages", fields: CONDITION_IN_POD },
    },
  },
};

/** What is read of a Service. */
export const SERVICE_FIELDS: Fields = {
  1: {
    name: "metadata",
    kind: "message",
    fields: {
      1: { name: "name", kind: "text" },
      3: { name: "namespace", kind: "text" },
      6: { name: "resourceVersion", kind: "text" },
    },
  },
  2: {
    name: "spec",
    kind: "message",
    fields: {
      1: {
        name: "ports",
        kind: "messages",
        fields: {
          2: { name: "protocol", kind: "text" },
          3: { name: "port", kind: "number" },
          5: { name: "nodePort", kind: "number" },
        },
      },
      2: { name: "selector", kind: "text-map" },
      4: { name: "type", kind: "text" },
    },
  },
};

/** What is read of an EndpointSlice. */
export const ENDPOINT_SLICE_FIELDS: Fields = {
  1: {
    name: "metadata",
    kind: "message",
    fields: {
      1: { name: "name", kind: "text" },
      3: { name: "namespace", kind: "text" },
      6: { name: "resourceVersion", kind: "text" },
      11: { name: "labels", kind: "text-map" },
    },
  },
  2: {
    name: "endpoints",
    kind: "messages",
    fields: {
      2: {
        name: "conditions",
        kind: "message",
        fields: { 1: { name: "ready", kind: "flag" }, 3: { name: "terminating", kind: "flag" } },
      },
      6: { name: "nodeName", kind: "text" },
    },
  },
};

const LIST_META: Fields = { 2: { name: "resourceVersion", kind: "text" }, 3: { name: "continue", kind: "text" } };

/** Any list: its items are left as bytes, to be read one by one. */
export const LIST_FIELDS: Fields = {
  1: { name: "metadata", kind: "message", fields: LIST_META },
  2: { name: "items", kind: "list" },
};

/** What is read of a Status. */
export const STATUS_FIELDS: Fields = {
  3: { name: "message", kind: "text" },
  4: { name: "reason", kind: "text" },
  6: { name: "code", kind: "number" },
};

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
interface Envelope {
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
