import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";

const PROGRAM = fileURLToPath(new URL("crash.ts", import.meta.url));

function crash(
  how: string,
  ...flags: readonly string[]
): { readonly status: number | null; readonly stderr: string; readonly stdout: string } {
  const env = { PATH: process.env["PATH"], DIGITALOCEAN_TOKEN: SECRET_TOKEN, SAYS: SECRET_TOKEN, HOW: how };
  return spawnSync(process.execPath, [PROGRAM, "plan", ...flags], { env, encoding: "utf8" });
}

describe("an error that nobody awaits", () => {
  test.for(["error", "rejection"])("ends the process with 1, with its stack and without secrets: %s", (how) => {
    const { status, stderr, stdout } = crash(how);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^flipop: This is a bug in flipop: it broke at \[redacted\]\n {4}at .*crash\.ts:\d+:\d+/);
    expect(stderr).toContain("caused by: since [redacted]");
    expect(stderr).toContain("Please report it with the lines above.");
    // Node's own report begins with the line of source that threw, which in a bundle may be long.
    expect(stderr).not.toMatch(/new Error\(/);
  });

  test("that is a text is told of, too", () => {
    expect(crash("text")).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^flipop: This is a bug in flipop: \[redacted\]\n/),
    });
  });

  test("is one JSON line where lines are JSON, and one document where that was asked for", () => {
    const { status, stderr, stdout } = crash("error", "--log-format", "json", "-o", "json");
    expect(status).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      level: "error",
      msg: "it broke at [redacted]",
      exitCode: 1,
      category: "bug",
      stack: expect.stringContaining("crash.ts"),
    });
    expect(JSON.parse(stdout)).toMatchObject({ kind: "Error", exitCode: 1 });
  });
});
