/** Wire type of a field that is a number. */
export const VARINT = 0;
/** Wire type of whatever begins with its length: texts, messages, bytes. */
export const LENGTH_DELIMITED = 2;
/** Bytes of the wire types that have a fixed length. */
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/**
 * A place within the bytes of a protobuf message, and where the message there ends. Whatever reads throws an Error where the bytes end too early. The bytes are private to
 * the compiler only: every byte is read through that field, and one that is private at run time, too, is slower (Node 24.21).
 */
export class Cursor {
  private readonly bytes: Buffer;
  at: number;
  readonly end: number;

  constructor(bytes: Buffer, at: number, end: number) {
    if (end > bytes.length) throw new Error("the message is cut off");
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** The next number. Negative ones come out huge; nothing that is read here can be negative. */
  varint(): number {
    let value = 0;
    for (let scale = 1; this.at < this.end; scale *= 128) {
      const byte = this.bytes[this.at] ?? 0;
      this.at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new Error("the message is cut off within a number");
  }

  /** The next length-delimited value, which is passed over. */
  inner(): Cursor {
    const length = this.varint();
    const start = this.at;
    this.pass(length);
    return new Cursor(this.bytes, start, this.at);
  }

  /** The first length-delimited value of this number between here and the end; undefined when there is none. This place stays. */
  find(number: number): Cursor | undefined {
    const ahead = new Cursor(this.bytes, this.at, this.end);
    while (ahead.at < ahead.end) {
      const tag = ahead.varint();
      if (tag === number * 8 + LENGTH_DELIMITED) return ahead.inner();
      ahead.skip(tag % 8);
    }
    return undefined;
  }

  /** Passes over a value unread. */
  skip(wireType: number): void {
    if (wireType === VARINT) this.varint();
    else if (wireType === LENGTH_DELIMITED) this.pass(this.varint());
    else this.pass(fixedLength(wireType));
  }

  /** Copies the bytes from `start` to here to a place of other bytes; returns where they end there. */
  copy(start: number, target: Buffer, place: number): number {
    return place + this.bytes.copy(target, place, start, this.at);
  }

  /** The bytes up to the end, not copied. */
  rest(): Buffer {
    return this.bytes.subarray(this.at, this.end);
  }

  /** The bytes up to the end, as text. */
  text(): string {
    return this.bytes.toString("utf8", this.at, this.end);
  }

  private pass(length: number): void {
    this.at += length;
    if (this.at > this.end) throw new Error("the message is cut off");
  }
}

function fixedLength(wireType: number): number {
  const length = FIXED[wireType];
  if (length === undefined) throw new Error(`wire type ${wireType} is not in use`);
  return length;
}
