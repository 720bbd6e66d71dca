import type { Answer } from "../exchange.ts";
import { asNumber, asRecord, asText } from "../json-value.ts";
import { Cursor } from "../protobuf-cursor.ts";
import { openEnvelope } from "../protobuf-envelope.ts";
import { STATUS_FIELDS } from "../protobuf-fields.ts";
import { decodeItem, type Fields } from "../protobuf-message.ts";

/** One event as it arrived, its object in the shape of its JSON as far as it is read. */
export interface RawEvent {
  /** `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK`, `ERROR`, or what a later API may say. */
  readonly type: string;
  readonly object: unknown;
  /** Of an ERROR: its Status as an answer, for texts. */
  readonly refusal?: Answer;
}

const NO_STATUS = 500;
/** Fields of a `WatchEvent`, and of the `RawExtension` in it (generated.proto of k8s.io/apimachinery v0.35.4, verified 2026-11). */
const TYPE = 1;
const OBJECT = 2;
const RAW = 1;

/** Reads a line of a watch in JSON. @throws Error when it is no event */
export function jsonEvent(frame: Buffer): RawEvent {
  const event = asRecord(JSON.parse(frame.toString("utf8")));
  const type = asText(event?.["type"]);
  const object = asRecord(event?.["object"]);
  if (type === undefined || object === undefined) throw new Error("no event");
  if (type !== "ERROR") return { type, object };
  return { type, object, refusal: refusal(object, Buffer.from(JSON.stringify(object))) };
}

/** One event in protobuf, its object unread. */
export interface PackedEvent {
  /** As {@link RawEvent} has it. */
  readonly type: string;
  /** The object as the answer wraps it, and without. */
  readonly raw: Buffer;
  readonly message: Buffer;
}

/** Opens a frame of a watch in protobuf: a `WatchEvent` whose object is wrapped as any answer is. @throws Error when it is no event */
export function openEvent(frame: Buffer): PackedEvent {
  const event = new Cursor(frame, 0, frame.length);
  const type = event.find(TYPE)?.text() ?? "";
  const raw = event.find(OBJECT)?.find(RAW)?.rest();
  const envelope = raw === undefined ? undefined : openEnvelope(raw);
  if (type === "" || raw === undefined || envelope === undefined) throw new Error("no event");
  return { type, raw, message: envelope.message };
}

/** Reads an event; its object may be unreadable in parts. @param fields what is read of the object. */
export function readEvent({ type, raw, message }: PackedEvent, fields: Fields): RawEvent {
  if (type !== "ERROR") return { type, object: decodeItem(message, fields) };
  const object = decodeItem(message, STATUS_FIELDS);
  return { type, object, refusal: refusal(object, raw) };
}

function refusal(status: Readonly<Record<string, unknown>>, body: Buffer): Answer {
  return { status: asNumber(status["code"]) ?? NO_STATUS, headers: {}, body };
}
