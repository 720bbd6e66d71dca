import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";

/**
 * Hands every chunk of a stream to `take` at the moment it arrives, and resolves when the stream ends in good order. Iterating over the stream costs several times as
 * much for each chunk (Node 24.21), which is most of what a watch costs on which nothing happens.
 * @throws what `take` throws, after which the stream is destroyed; else what the stream fails with, its end before the end included.
 */
export async function readChunks(stream: Readable, take: (chunk: Buffer) => void): Promise<void> {
  let refusal: { readonly error: unknown } | undefined;
  const ended = finished(stream, { writable: false });
  stream.on("data", (chunk: Buffer) => {
    if (refusal !== undefined) return;
    try {
      take(chunk);
    } catch (error) {
      refusal = { error };
      stream.destroy();
    }
  });
  await ended.catch((error: unknown) => {
    throw refusal === undefined ? error : refusal.error;
  });
  if (refusal !== undefined) throw refusal.error;
}
