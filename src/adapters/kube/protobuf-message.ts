import { Cursor, LENGTH_DELIMITED, VARINT } from "./protobuf-cursor.ts";

/** How one field of a message is read. `text-map` is a map of text to text; `list` is a repeated message, each left as bytes. */
export type Field =
  | {
      readonly name: string;
      readonly kind: "text" | "number" | "flag" | "time" | "text-map" | "list";
      /** True where it is another one after every write, which says nothing of what was written. */
      readonly isVersion?: boolean;
    }
  | { readonly name: string; readonly kind: "message" | "messages"; readonly fields: Fields };

/** The fields of a message that are wanted, by their number. All others are skipped unread. */
export type Fields = Readonly<Record<number, Field>>;

type Message = Record<string, unknown>;

const MAP_ENTRY: Fields = { 1: { name: "key", kind: "text" }, 2: { name: "value", kind: "text" } };
const TIME: Fields = { 1: { name: "seconds", kind: "number" } };

/**
 * The wanted fields of a protobuf message, in the shape its JSON has: absent where the JSON would leave them out (empty texts, times
 * that are zero), times as RFC 3339 text. Whatever is not wanted costs next to nothing, which is the point. Pure.
 * @throws Error when the bytes end within a field or are no message.
 * @see https://protobuf.dev/programming-guides/encoding/ verified 2026-08-08
 */
export function decodeMessage(bytes: Buffer, fields: Fields): Readonly<Record<string, unknown>> {
  return readMessage(new Cursor(bytes, 0, bytes.length), fields);
}

function readMessage(cursor: Cursor, fields: Fields): Message {
  const message: Message = {};
  while (cursor.at < cursor.end) {
    const tag = cursor.varint();
    const field = fields[Math.floor(tag / 8)];
    const wireType = tag % 8;
    if (field === undefined) cursor.skip(wireType);
    else if (wireType === (isVarint(field) ? VARINT : LENGTH_DELIMITED)) addField(message, field, cursor);
    else throw new Error(`the field ${field.name} has wire type ${wireType}`);
  }
  return message;
}

function addField(message: Message, field: Field, cursor: Cursor): void {
  const { name } = field;
  switch (field.kind) {
    case "number":
      message[name] = cursor.varint();
      return;
    case "flag":
      message[name] = cursor.varint() !== 0;
      return;
    case "text":
      addText(message, name, cursor.inner());
      return;
    case "time":
      addTime(message, name, cursor.inner());
      return;
    case "text-map":
      addEntry(message, name, cursor.inner());
      return;
    case "list":
      append(message, name, cursor.inner().rest());
      return;
    case "message":
      message[name] = readMessage(cursor.inner(), field.fields);
      return;
    case "messages":
      append(message, name, readMessage(cursor.inner(), field.fields));
      return;
  }
}

function isVarint({ kind }: Field): boolean {
  return kind === "number" || kind === "flag";
}

/** Kubernetes sends every text, the empty ones too, which its JSON leaves out. */
function addText(message: Message, name: string, cursor: Cursor): void {
  if (cursor.at < cursor.end) message[name] = cursor.text();
}

function addTime(message: Message, name: string, cursor: Cursor): void {
  const { seconds } = readMessage(cursor, TIME);
  if (typeof seconds === "number" && seconds > 0) message[name] = new Date(seconds * 1000).toISOString();
}

function addEntry(message: Message, name: string, cursor: Cursor): void {
  const { key = "", value = "" } = readMessage(cursor, MAP_ENTRY);
  // Without a prototype every key is one of the map's own, __proto__, too.
  message[name] ??= Object.create(null);
  (message[name] as Message)[String(key)] = value;
}

function append(message: Message, name: string, item: unknown): void {
  message[name] ??= [];
  (message[name] as unknown[]).push(item);
}
