import { hash } from "node:crypto";
import { Cursor, LENGTH_DELIMITED, MalformedMessage, VARINT } from "../../model/protobuf.ts";
import { isTime, isZeroTime } from "../../model/time.ts";
import { CUT_OFF, UNREADABLE } from "./json.ts";

/** How one field of a message is read. `text-map` is a map of text to text; `list` is a repeated message, each left as bytes. */
export type Field =
  | {
      readonly name: string;
      readonly kind: "text" | "number" | "flag" | "time" | "text-map" | "list";
      /** True where it is another one after every write, which says nothing of what was written. */
      readonly isVersion?: boolean;
      /** True if a zero time counts as present: `deletionTimestamp` means a deletion even then. */
      readonly isSign?: boolean;
    }
  | { readonly name: string; readonly kind: "message" | "messages"; readonly fields: Fields };

/** The fields of a message that are wanted, by their number. All others are skipped unread. */
export type Fields = Readonly<Record<number, Field>>;

type Message = Record<string | symbol, unknown>;

const MAP_ENTRY: Fields = { 1: { name: "key", kind: "text" }, 2: { name: "value", kind: "text" } };
/** Kubernetes neither writes nor reads nanoseconds (apimachinery v0.35.4, time_proto.go). */
const TIME: Fields = { 1: { name: "seconds", kind: "number" } };

/**
 * The wanted fields of a protobuf message, in the shape its JSON has: absent where the JSON would leave them out (empty texts, times
 * that are zero), times as Date, which costs a tenth of their text. If a field comes twice, the last value counts; two parts of one message are merged.
 * Whatever is not wanted costs next to nothing, which is the point. Pure.
 * @throws MalformedMessage when the bytes end within a field or are no message.
 * @see https://protobuf.dev/programming-guides/encoding/ verified 2026-08-08
 */
export function decodeMessage(bytes: Buffer, fields: Fields): Readonly<Record<string, unknown>> {
  return new Reader(true).read(new Cursor(bytes, 0, bytes.length), fields, {});
}

/**
 * Decodes an item leniently: a broken part costs nothing but itself. Never throws.
 *
 *   field of a wrong wire type            UNREADABLE
 *   time that RFC 3339 cannot write       UNREADABLE
 *   message that ends too early           the fields before its end, and CUT_OFF
 */
export function decodeItem(bytes: Buffer, fields: Fields): Readonly<Record<string, unknown>> {
  return new Reader(false).read(new Cursor(bytes, 0, bytes.length), fields, {});
}

class Reader {
  private readonly isStrict: boolean;

  constructor(isStrict: boolean) {
    this.isStrict = isStrict;
  }

  read(cursor: Cursor, fields: Fields, message: Message): Message {
    try {
      while (cursor.at < cursor.end) this.readField(cursor, fields, message);
    } catch (error) {
      if (this.isStrict || !(error instanceof MalformedMessage)) throw error;
      message[CUT_OFF] = true;
    }
    return message;
  }

  private readField(cursor: Cursor, fields: Fields, message: Message): void {
    const tag = cursor.tag();
    const wireType = tag % 8;
    const field = fields[tag >>> 3];
    if (field === undefined) cursor.skip(wireType);
    else if (wireType === (isVarint(field) ? VARINT : LENGTH_DELIMITED)) this.addField(message, field, cursor);
    else {
      if (this.isStrict) throw new MalformedMessage(`the field ${field.name} has wire type ${wireType}`);
      cursor.skip(wireType);
      message[field.name] = UNREADABLE;
    }
  }

  private addField(message: Message, field: Field, cursor: Cursor): void {
    const { name } = field;
    switch (field.kind) {
      case "number":
        message[name] = cursor.int64();
        return;
      case "flag":
        message[name] = cursor.varint() !== 0;
        return;
      case "text":
        set(message, name, cursor.inner().text());
        return;
      case "time":
        set(message, name, this.time(cursor.inner(), field.isSign === true));
        return;
      case "text-map":
        // Without a prototype every key is one of the map's own, __proto__, too.
        this.addEntry(partOf(message, name, Object.create(null)), cursor.inner());
        return;
      case "list":
        append(message, name, cursor.inner().rest());
        return;
      case "message":
        message[name] = this.read(cursor.inner(), field.fields, partOf(message, name));
        return;
      case "messages":
        append(message, name, this.read(cursor.inner(), field.fields, {}));
        return;
    }
  }

  /** Returns a Date; `""` for a zero time, which the JSON leaves out. */
  private time(cursor: Cursor, isSign: boolean): unknown {
    const { seconds = 0, [CUT_OFF]: isCutOff } = this.read(cursor, TIME, {});
    if (isCutOff === true || typeof seconds !== "number") return UNREADABLE;
    const ms = seconds * 1000;
    if (isTime(ms)) return new Date(ms);
    return isZeroTime(ms) && !isSign ? "" : UNREADABLE;
  }

  private addEntry(map: Message, cursor: Cursor): void {
    const { key = "", value = "", [CUT_OFF]: isCutOff } = this.read(cursor, MAP_ENTRY, {});
    if (typeof key !== "string" || (isCutOff === true && key === "")) map[CUT_OFF] = true;
    else map[key] = isCutOff === true ? UNREADABLE : value;
  }
}

function isVarint({ kind }: Field): boolean {
  return kind === "number" || kind === "flag";
}

/** Kubernetes sends every text, the empty ones too, which its JSON leaves out. */
function set(message: Message, name: string, value: unknown): void {
  if (value !== "") message[name] = value;
  else if (message[name] !== undefined) delete message[name];
}

/** Returns the part of a message that was read so far, or begins it as `empty`. A part that replaces an unreadable one is marked `CUT_OFF`. */
function partOf(message: Message, name: string, empty: Message = {}): Message {
  const part = message[name];
  if (typeof part === "object") return part as Message;
  if (part === UNREADABLE) empty[CUT_OFF] = true;
  message[name] = empty;
  return empty;
}

/** Adds an item to a list. A list that is UNREADABLE stays so. */
function append(message: Message, name: string, item: unknown): void {
  const list = message[name];
  if (list === undefined) message[name] = [item];
  else if (Array.isArray(list)) list.push(item);
}

/** Ends a message among the bytes that are hashed: no field begins so. */
const END = 0;

/**
 * Tells whether two messages say the same in all fields that are read, without reading them: to find that a node reports nothing new costs a
 * fraction of reading it.
 */
export class Marker {
  /** Bytes of the message at hand that are read, one after the other; grows to the longest message. */
  #wanted: Buffer = Buffer.alloc(0);

  /** The mark of a message: the same for two whose wanted fields have the same bytes in the same order, those that are versions aside. Undefined for a broken message. */
  markOf(message: Buffer, fields: Fields): string | undefined {
    if (this.#wanted.length < message.length) this.#wanted = Buffer.allocUnsafe(message.length * 2);
    try {
      const end = this.#collect(new Cursor(message, 0, message.length), fields, 0);
      return hash("sha256", this.#wanted.subarray(0, end), "base64");
    } catch (error) {
      if (error instanceof MalformedMessage) return undefined;
      throw error;
    }
  }

  /** Copies the wanted fields of a message; never more bytes than it has, since its length gives way to its end. */
  #collect(cursor: Cursor, fields: Fields, place: number): number {
    let end = place;
    while (cursor.at < cursor.end) {
      const start = cursor.at;
      const tag = cursor.tag();
      const field = fields[tag >>> 3];
      if (field !== undefined && "fields" in field && tag % 8 === LENGTH_DELIMITED) {
        end = cursor.copy(start, this.#wanted, end);
        end = this.#collect(cursor.inner(), field.fields, end);
        end = this.#wanted.writeUInt8(END, end);
      } else {
        cursor.skip(tag % 8);
        if (field !== undefined && !("isVersion" in field)) end = cursor.copy(start, this.#wanted, end);
      }
    }
    return end;
  }
}

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
