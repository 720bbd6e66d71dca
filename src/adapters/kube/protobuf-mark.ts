import { hash } from "node:crypto";
import { Cursor, LENGTH_DELIMITED, MalformedMessage } from "./protobuf-cursor.ts";
import type { Fields } from "./protobuf-message.ts";

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
