import { describe, expect, test } from "vitest";
import { FrameSplitter, type Framing } from "../../../../src/adapters/kube/watch/watch-source.ts";

const TEXTS = ["a", "bc", "", "d".repeat(300), "é"];
const framed: Readonly<Record<Framing, (text: string) => Buffer>> = {
  lines: (text) => Buffer.from(`${text}\n`),
  lengths: (text) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(text));
    return Buffer.concat([length, Buffer.from(text)]);
  },
};

describe.for(["lines", "lengths"] as const)("frames by %s", (framing) => {
  const bytes = Buffer.concat(TEXTS.map(framed[framing]));
  const wanted = framing === "lines" ? TEXTS.filter((text) => text !== "") : TEXTS;

  test.for([1, 2, 3, 5, 7, 64, 1_000])("come whole out of chunks of %i bytes", (size) => {
    const splitter = new FrameSplitter(framing);
    const frames: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      frames.push(...splitter.push(bytes.subarray(at, at + size)).map((frame) => frame.toString()));
    }
    expect(frames).toEqual(wanted);
    expect(splitter.isBetweenFrames).toBe(true);
  });

  test("that are not complete are not given out, and the end may not come there", () => {
    const splitter = new FrameSplitter(framing);
    expect(splitter.push(bytes.subarray(0, 3)).length).toBe(framing === "lines" ? 1 : 0);
    expect(splitter.isBetweenFrames).toBe(false);
  });
});

test("a frame that comes as a chunk of its own, after its length, is not copied", () => {
  const splitter = new FrameSplitter("lengths");
  const chunk = Buffer.from("frame");
  expect(splitter.push(Buffer.from([0, 0, 0, 5]))).toEqual([]);
  expect(splitter.isBetweenFrames).toBe(false);
  const [frame] = splitter.push(chunk);
  expect(frame).toBe(chunk);
  expect(splitter.isBetweenFrames).toBe(true);
});

describe("a frame of more than 16 MiB", () => {
  test("is refused by its length, before it has come", () => {
    const announcing = (bytes: readonly number[]) => new FrameSplitter("lengths").push(Buffer.from(bytes));
    expect(announcing([0x01, 0x00, 0x00, 0x00])).toEqual([]);
    expect(() => announcing([0x01, 0x00, 0x00, 0x01])).toThrow("a frame of 16777217 bytes is more than 16777216");
  });

  test("is refused as a line once so much has come", () => {
    const splitter = new FrameSplitter("lines");
    const chunk = Buffer.alloc(1024 * 1024, 0x61);
    for (let count = 0; count < 16; count++) splitter.push(chunk);
    expect(() => splitter.push(chunk)).toThrow("is more than 16777216");
  });
});
