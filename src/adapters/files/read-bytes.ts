import { closeSync, constants, openSync, readSync, type Stats, statSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../../model/errors.ts";

// Files that a person names. What is there may be anything: a device that never ends, a pipe that nobody writes to.

/** The most that is read of one file, bytes: more than the snapshot of the largest cluster. */
const MOST_BYTES = 256 * 1024 * 1024;
/** The longest that a named pipe is waited for until somebody writes to it, milliseconds. */
const WRITER_MS = 10_000;
/** The time between two looks at a pipe, milliseconds. */
const LOOK_MS = 20;

/** How much is read, and how long is waited. */
export interface ReadLimits {
  readonly mostBytes?: number;
  readonly writerMs?: number;
}

/**
 * Reads a file, or standard input to its end (`-`): it may be a pipe, a socket or a file.
 * @throws ConfigError for a file that is too large, and for a named pipe that nobody writes to; the system's error where it cannot be read
 */
export async function readBytes(path: string, limits: ReadLimits = {}): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const chunk of readChunks(path, limits)) read.push(chunk);
  return Buffer.concat(read);
}

/** Does what {@link readBytes} does, part by part, for what need not be kept. */
export async function* readChunks(
  path: string,
  { mostBytes = MOST_BYTES, writerMs = WRITER_MS }: ReadLimits = {},
): AsyncGenerator<Buffer> {
  if (path === "-") return yield* within(process.stdin, "stdin", mostBytes);
  const found = await stat(path);
  if (found.isFile() && found.size > mostBytes) throw tooLarge(path, mostBytes);
  // Without the flag a pipe that nobody writes to keeps the whole process, even from a signal.
  const file = await open(path, constants.O_RDONLY | (found.isFIFO() ? constants.O_NONBLOCK : 0));
  try {
    yield* within(chunksOf(file, path, found, writerMs), path, mostBytes);
  } finally {
    await file.close();
  }
}

/**
 * Returns the text of a small file at once. The process reads such a file again and again, as one with a token. So it must not be a pipe: what was read from a pipe is gone.
 * @throws Unfit for a pipe, and for a file that is too large; the system's error where it cannot be read
 */
export function readTextNow(path: string, mostBytes: number): string {
  if (statSync(path).isFIFO()) throw new Unfit(path, "it is a pipe, and is read again and again", "Name a file.");
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(mostBytes + 1);
    let size = 0;
    for (;;) {
      const length = readSync(file, buffer, size, buffer.length - size, null);
      size += length;
      if (size > mostBytes) throw tooLarge(path, mostBytes);
      if (length === 0) return buffer.toString("utf8", 0, size);
    }
  } finally {
    closeSync(file);
  }
}

async function* within(
  chunks: AsyncIterable<Buffer | string>,
  path: string,
  mostBytes: number,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    size += bytes.length;
    if (size > mostBytes) throw tooLarge(path, mostBytes);
    yield bytes;
  }
}

async function* chunksOf(file: FileHandle, path: string, found: Stats, writerMs: number): AsyncGenerator<Buffer> {
  const untilMs = performance.now() + writerMs;
  let hasWriter = !found.isFIFO();
  for (;;) {
    const chunk = await nextChunk(file);
    const isNone = chunk !== "not-yet" && chunk.length === 0;
    if (isNone && hasWriter) return;
    if (isNone && performance.now() >= untilMs) throw unwritten(path, writerMs);
    hasWriter ||= !isNone;
    if (isNone || chunk === "not-yet") await sleep(LOOK_MS);
    else yield chunk;
  }
}

/** Returns what comes next; nothing at the end, and of a pipe that nobody writes to; `not-yet` of one that somebody will write to. */
async function nextChunk(file: FileHandle): Promise<Buffer | "not-yet"> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(64 * 1024));
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return "not-yet";
    throw error;
  }
}

/** Returns why a file could not be read, for texts: a code such as `EACCES`, or what is wrong with what is there. Undefined where the error does not say. */
export function whyUnread(error: unknown): string | undefined {
  if (error instanceof Unfit) return error.why;
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** What is there is no file to read. */
class Unfit extends ConfigError {
  override readonly name: string = "Unfit";
  /** Without the path: `it is a pipe, and nobody has written to it for 10 s`. */
  readonly why: string;
  constructor(path: string, why: string, advice: string) {
    super("invalid", `Cannot read ${path}: ${why}.${advice === "" ? "" : ` ${advice}`}`);
    this.why = why;
  }
}

function tooLarge(path: string, mostBytes: number): Unfit {
  return new Unfit(path, `it holds more than ${Math.floor(mostBytes / (1024 * 1024))} MiB`, "Name a smaller file.");
}

function unwritten(path: string, writerMs: number): Unfit {
  const waited = `${Math.round(writerMs / 1000)} s`;
  return new Unfit(path, `it is a pipe, and nobody has written to it for ${waited}`, "");
}
