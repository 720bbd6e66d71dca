/** How a stream is cut into frames: each ends with a line feed, or begins with its length in four bytes, big-endian. */
export type Framing = "lines" | "lengths";

const LINE_FEED = 0x0a;
const HEADER_BYTES = 4;
/** client-go refuses bigger ones, too; no object in etcd comes near. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** Cuts a stream that arrives in chunks of any size into its frames. Copies only those that chunks divide. */
export class FrameSplitter {
  readonly #framing: Framing;
  #parts: Buffer[] = [];
  #size = 0;
  /** Of the frame at hand; undefined until its header is complete. */
  #length: number | undefined;

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  /** True where the stream may end: no frame has begun. */
  get isBetweenFrames(): boolean {
    return this.#size === 0 && this.#length === undefined;
  }

  /** The frames that are complete with this chunk, in order; empty lines are none. @throws Error for a frame over 16 MiB. */
  push(chunk: Buffer): readonly Buffer[] {
    return this.#framing === "lines" ? this.#pushLines(chunk) : this.#pushLengths(chunk);
  }

  #pushLines(chunk: Buffer): readonly Buffer[] {
    const frames: Buffer[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, end));
      const line = this.#take();
      if (line.length > 0) frames.push(line);
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
    checked(this.#size);
    return frames;
  }

  /** A server sends a header and its frame apart: the frame is then a chunk of its own, and nothing is copied. */
  #pushLengths(chunk: Buffer): readonly Buffer[] {
    const frames: Buffer[] = [];
    let from = 0;
    for (;;) {
      const wanted: number = (this.#length ?? HEADER_BYTES) - this.#size;
      const end = from + wanted;
      if (end > chunk.length) break;
      this.#keep(from === 0 && end === chunk.length ? chunk : chunk.subarray(from, end));
      const bytes = this.#take();
      from = end;
      if (this.#length === undefined) this.#length = checked(bytes.readUInt32BE(0));
      else {
        frames.push(bytes);
        this.#length = undefined;
      }
    }
    this.#keep(chunk.subarray(from));
    return frames;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#parts.push(bytes);
    this.#size += bytes.length;
  }

  #take(): Buffer {
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return bytes;
  }
}

function checked(bytes: number): number {
  if (bytes > MAX_FRAME_BYTES) throw new Error(`a frame of ${bytes} bytes is more than ${MAX_FRAME_BYTES}`);
  return bytes;
}
