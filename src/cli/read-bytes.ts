import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../model/errors.ts";

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
export async function readBytes(
  path: string,
  { mostBytes = MOST_BYTES, writerMs = WRITER_MS }: ReadLimits = {},
): Promise<Buffer> {
  if (path === "-") return await collected(process.stdin, "stdin", mostBytes);
  const found = await stat(path);
  if (found.isFile() && found.size > mostBytes) throw tooLarge(path, mostBytes);
  // Without the flag a pipe that nobody writes to keeps the whole process, even from a signal.
  const file = await open(path, constants.O_RDONLY | (found.isFIFO() ? constants.O_NONBLOCK : 0));
  try {
    return await collected(chunksOf(file, path, found, writerMs), path, mostBytes);
  } finally {
    await file.close();
  }
}

async function collected(chunks: AsyncIterable<Buffer | string>, path: string, mostBytes: number): Promise<Buffer> {
  const read: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    size += bytes.length;
    if (size > mostBytes) throw tooLarge(path, mostBytes);
    read.push(bytes);
  }
  return Buffer.concat(read);
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

function tooLarge(path: string, mostBytes: number): ConfigError {
  const most = `${Math.floor(mostBytes / (1024 * 1024))} MiB`;
  return new ConfigError("invalid", `Cannot read ${path}: it holds more than ${most}. Name a smaller file.`);
}

function unwritten(path: string, writerMs: number): ConfigError {
  const waited = `${Math.round(writerMs / 1000)} s`;
  return new ConfigError("invalid", `Cannot read ${path}: it is a pipe, and nobody has written to it for ${waited}.`);
}
