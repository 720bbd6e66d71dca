import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { readChunks } from "../../../../src/adapters/kube/watch/watch-source.ts";

test("a stream's chunks are handed out at once and one by one, and its end resolves", async () => {
  const stream = new PassThrough();
  const taken: string[] = [];
  const reading = readChunks(stream, (chunk) => taken.push(chunk.toString()));
  stream.write("a");
  stream.write("b");
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toEqual(["a", "b"]);
  stream.end("c");
  await reading;
  expect(taken).toEqual(["a", "b", "c"]);
});

test("what the taker throws is thrown, the stream is destroyed, and nothing more is handed out", async () => {
  const stream = new PassThrough();
  const taken: string[] = [];
  const reading = readChunks(stream, (chunk) => {
    taken.push(chunk.toString());
    throw new RangeError("no more");
  });
  stream.write("a");
  stream.write("b");
  await expect(reading).rejects.toThrow(new RangeError("no more"));
  expect(taken).toEqual(["a"]);
  expect(stream.destroyed).toBe(true);
});

test.for([
  ["fails", (stream: PassThrough) => stream.destroy(new Error("reset")), "reset"],
  ["breaks off without an end", (stream: PassThrough) => stream.destroy(), "Premature close"],
] as const)("a stream that %s rejects", async ([, stop, why]) => {
  const stream = new PassThrough();
  const reading = readChunks(stream, () => undefined);
  stream.write("a");
  stop(stream);
  await expect(reading).rejects.toThrow(why);
});
