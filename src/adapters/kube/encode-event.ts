import { GROUP, VERSION } from "../../model/resource.ts";
import type { ClusterEvent } from "../../ports/cluster.ts";
import { microTime } from "./micro-time.ts";

/** Bytes of `note` and characters of `reportingInstance` the API server takes (events.k8s.io/v1, verified 2026-08). */
const MAX_NOTE_BYTES = 1024;
const MAX_INSTANCE_LENGTH = 128;

/** What an Event carries beside what happened. */
export interface EventStamp {
  readonly eventTimeMs: number;
  /** Who reports: a pod's or a host's name. */
  readonly reportingInstance: string;
  /** Lower-case letters and digits that make the Event's name unique. */
  readonly suffix: string;
}

/** An events.k8s.io/v1 Event in the object's namespace. A longer note is cut at a character's end, with an ellipsis. Pure. */
export function encodeEvent(event: ClusterEvent, stamp: EventStamp): Record<string, unknown> {
  const { meta, kind } = event.regarding;
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { namespace: meta.namespace, name: eventName(meta.name, stamp.suffix) },
    eventTime: microTime(stamp.eventTimeMs),
    type: event.type,
    reason: event.reason,
    action: event.action,
    note: cutToBytes(event.note, MAX_NOTE_BYTES),
    reportingController: `${GROUP}/flipop`,
    reportingInstance: stamp.reportingInstance.slice(0, MAX_INSTANCE_LENGTH),
    regarding: {
      apiVersion: `${GROUP}/${VERSION}`,
      kind,
      namespace: meta.namespace,
      name: meta.name,
      uid: meta.uid,
      resourceVersion: meta.resourceVersion,
    },
  };
}

/** A DNS subdomain of at most 253 characters, and a cut must not leave a dot or hyphen before the suffix. */
function eventName(objectName: string, suffix: string): string {
  return `${objectName.slice(0, 252 - suffix.length).replace(/[.-]+$/, "")}.${suffix}`;
}

function cutToBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const ellipsis = "…";
  const room = limit - Buffer.byteLength(ellipsis);
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room));
  return text.slice(0, read) + ellipsis;
}
