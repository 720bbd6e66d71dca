import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const CHILD = new URL("./child.ts", import.meta.url).href;

test("whoever stops a program that ignores SIGTERM goes on after its end, and has nothing else to do meanwhile", () => {
  const folder = mkdtempSync(join(tmpdir(), "flipop-child-"));
  try {
    const deaf = `trap "" TERM; echo deaf; while :; do sleep 0.1; done`;
    const code = `const { startChild } = await import(${JSON.stringify(CHILD)});
      const child = startChild("deaf", "sh", ["-c", ${JSON.stringify(deaf)}], ${JSON.stringify(folder)});
      while (!child.log().includes("deaf")) await new Promise((wait) => setTimeout(wait, 50));
      await child.stop();
      console.log("stopped", child.isRunning());`;
    const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "stopped false\n" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
