import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readBytes, readTextNow } from "../../../src/adapters/files/read-bytes.ts";

const dir = mkdtempSync(join(tmpdir(), "flipop-read-bytes-"));
afterAll(() => rmSync(dir, { recursive: true }));

const MiB = 1024 * 1024;

function aPipe(name: string): string {
  const path = join(dir, name);
  execFileSync("mkfifo", [path]);
  return path;
}

describe("what a person names to be read", () => {
  test("is read whole up to the limit, and refused above it", async () => {
    const path = join(dir, "file");
    writeFileSync(path, "x".repeat(MiB));
    expect((await readBytes(path, { mostBytes: MiB })).length).toBe(MiB);
    writeFileSync(path, "x".repeat(MiB + 1));
    const refusal = `Cannot read ${path}: it holds more than 1 MiB. Name a smaller file.`;
    await expect(readBytes(path, { mostBytes: MiB })).rejects.toThrow(refusal);
  });

  test.skipIf(process.platform !== "linux").for(["/dev/zero", "/dev/full"])(
    "may be a device that never ends: %s",
    async (path) => {
      await expect(readBytes(path, { mostBytes: MiB })).rejects.toThrow("it holds more than 1 MiB");
    },
  );

  test("may be a pipe that nobody writes to", async () => {
    const path = aPipe("silent");
    const refusal = `Cannot read ${path}: it is a pipe, and nobody has written to it for 0 s.`;
    await expect(readBytes(path, { writerMs: 50 })).rejects.toThrow(refusal);
  });

  test("may be a pipe that somebody writes to later, and slowly", async () => {
    const path = aPipe("slow");
    const reading = readBytes(path);
    const writer = await open(path, "w");
    await writer.write("one ");
    await new Promise((resolve) => setTimeout(resolve, 60));
    await writer.write("two");
    await writer.close();
    expect((await reading).toString()).toBe("one two");
    await rm(path);
  });
});

describe("what is read again and again", () => {
  test("is a file up to the limit, or a device that ends", () => {
    const path = join(dir, "small");
    writeFileSync(path, "secret\n");
    expect(readTextNow(path, 7)).toBe("secret\n");
    expect(readTextNow("/dev/null", 7)).toBe("");
    expect(() => readTextNow(path, 6)).toThrow("it holds more than");
    expect(() => readTextNow(join(dir, "none"), 7)).toThrow("ENOENT");
  });

  test.skipIf(process.platform !== "linux")("is no device that never ends, and no pipe", () => {
    expect(() => readTextNow("/dev/zero", MiB)).toThrow("/dev/zero: it holds more than 1 MiB");
    const path = aPipe("token");
    expect(() => readTextNow(path, MiB)).toThrow(
      `Cannot read ${path}: it is a pipe, and is read again and again. Name a file.`,
    );
  });
});
