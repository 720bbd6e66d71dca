// The bytes of protobuf messages, and of what Kubernetes wraps them in, without what they say.

/** Wire type of a field that is a number. */
export const VARINT = 0;
/** Wire type of whatever begins with its length: texts, messages, bytes. */
export const LENGTH_DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;
/** Bytes of the wire types that have a fixed length. */
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
/** Value of the lowest bit in the tenth byte of a number. A number has at most ten bytes. */
const LAST_SCALE = 2 ** 63;
/** Field numbers have 29 bits. */
const MAX_TAG = 2 ** 32 - 1;

/** Says that bytes are no message, or end too early. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

/**
 * A place within the bytes of a protobuf message, and where the message there ends. Every reading method throws a {@link MalformedMessage} if the bytes end too early or
 * are no protobuf. The bytes are private to the compiler only: every byte is read through that field, and one that is private at run time, too, is slower (Node 24.21).
 */
export class Cursor {
  private readonly bytes: Buffer;
  at: number;
  readonly end: number;

  constructor(bytes: Buffer, at: number, end: number) {
    if (end > bytes.length) throw new MalformedMessage("the message is cut off");
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** Reads the next number, for a length or a flag. Numbers beyond 2^53 are rounded; negative numbers come out huge. */
  varint(): number {
    let value = 0;
    for (let scale = 1; this.at < this.end; scale *= 128) {
      const byte = this.bytes[this.at] ?? 0;
      this.at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      if (scale === LAST_SCALE) throw new MalformedMessage("a number has more than ten bytes");
    }
    throw new MalformedMessage("the message is cut off within a number");
  }

  /** Reads the next number as a signed 64-bit integer. Beyond 2^53 it is rounded, as JSON.parse rounds it. */
  int64(): number {
    const start = this.at;
    const value = this.varint();
    if (value <= Number.MAX_SAFE_INTEGER) return value;
    let exact = 0n;
    for (let at = this.at - 1; at >= start; at -= 1) exact = exact * 128n + BigInt((this.bytes[at] ?? 0) & 0x7f);
    return Number(BigInt.asIntN(64, exact));
  }

  /** Reads the tag of the next field: `number * 8 + wire type`. */
  tag(): number {
    const tag = this.varint();
    if (tag < 8 || tag > MAX_TAG) throw new MalformedMessage(`${tag} begins no field`);
    return tag;
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
      const tag = ahead.tag();
      if (tag === number * 8 + LENGTH_DELIMITED) return ahead.inner();
      ahead.skip(tag % 8);
    }
    return undefined;
  }

  /** Passes over a value unread. */
  skip(wireType: number): void {
    if (wireType === VARINT) this.varint();
    else if (wireType === LENGTH_DELIMITED) this.pass(this.varint());
    else if (wireType === START_GROUP) this.skipGroup();
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

  /** Passes over a group with the groups in it. */
  private skipGroup(): void {
    for (let depth = 1; depth > 0; ) {
      const wireType = this.tag() % 8;
      if (wireType === START_GROUP) depth += 1;
      else if (wireType === END_GROUP) depth -= 1;
      else this.skip(wireType);
    }
  }

  private pass(length: number): void {
    this.at += length;
    if (this.at > this.end) throw new MalformedMessage("the message is cut off");
  }
}

function fixedLength(wireType: number): number {
  const length = FIXED[wireType];
  if (length === undefined) throw new MalformedMessage(`wire type ${wireType} is not in use`);
  return length;
}

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
