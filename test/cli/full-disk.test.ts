import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";

const root = mkdtempSync(join(tmpdir(), "flipop-full-"));
const module = new URL("../../src/cli/document-file.ts", import.meta.url).pathname;
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Writes 1 MiB where no file may be longer than 1 KiB, as on a disk that is full, and returns what is told. */
async function writeTooMuch(path: string, mayReplace: boolean): Promise<string> {
  const program = `const { writeNewFile } = await import(${JSON.stringify(module)});
    await writeNewFile(${JSON.stringify(path)}, "x".repeat(1 << 20), ${mayReplace}).catch((error) => console.log(error.message));`;
  // A file that is too long ends a process that does not say otherwise.
  const line = 'trap "" XFSZ; ulimit -f 1; exec "$0" --input-type=module --eval "$1"';
  const { stdout } = await promisify(execFile)("bash", ["-c", line, process.execPath, program]);
  return stdout.trim();
}

describe.skipIf(process.platform === "win32")("a file on a disk that becomes full", () => {
  test("is not left there in part: it would pass for a whole one, and the next run would not replace it", async () => {
    const folder = mkdtempSync(join(root, "new-"));
    const path = join(folder, "plan.json");
    expect(await writeTooMuch(path, false)).toContain(`Cannot write ${path}: EFBIG`);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("leaves the one there was before as it is", async () => {
    const folder = mkdtempSync(join(root, "there-"));
    const path = join(folder, "plan.json");
    writeFileSync(path, "mine");
    expect(await writeTooMuch(path, true)).toContain(`Cannot write ${path}: EFBIG`);
    expect([readdirSync(folder), readFileSync(path, "utf8")]).toEqual([["plan.json"], "mine"]);
  });
});
