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

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  /** True where the stream may end: no frame has begun. */
  get isBetweenFrames(): boolean {
    return this.#size === 0;
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

  #pushLengths(chunk: Buffer): readonly Buffer[] {
    this.#keep(chunk);
    if (this.#size < this.#wanted()) return [];
    const bytes = this.#take();
    const frames: Buffer[] = [];
    let from = 0;
    while (bytes.length - from >= HEADER_BYTES) {
      const end = from + HEADER_BYTES + checked(bytes.readUInt32BE(from));
      if (end > bytes.length) break;
      frames.push(bytes.subarray(from + HEADER_BYTES, end));
      from = end;
    }
    this.#keep(bytes.subarray(from));
    return frames;
  }

  /** How many bytes there must be before it is worth joining them: a long frame comes in many chunks. */
  #wanted(): number {
    const [first] = this.#parts;
    if (first === undefined || first.length < HEADER_BYTES) return HEADER_BYTES;
    return HEADER_BYTES + checked(first.readUInt32BE(0));
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
