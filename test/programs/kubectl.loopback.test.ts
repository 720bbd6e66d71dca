// The real kubectl finds flipop as its plugin, and asks it what to offer at TAB.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { toolOrSkip } from "../cluster/assets.ts";
import { FLIPOP } from "./entry.ts";

const kubectl = await toolOrSkip("kubectl");

const dir = mkdtempSync(join(tmpdir(), "flipop-plugin-"));
afterAll(() => rmSync(dir, { recursive: true }));
for (const name of ["kubectl-flipop", "kubectl_complete-flipop"]) symlinkSync(FLIPOP, join(dir, name));

function run(...args: readonly string[]): { readonly stdout: string; readonly status: number | null } {
  const PATH = [dir, process.env["PATH"]].join(delimiter);
  const { stdout, status } = spawnSync(kubectl ?? "", args, {
    encoding: "utf8",
    env: { PATH, HOME: join(dir, "nobody") },
  });
  return { stdout, status };
}

describe.skipIf(kubectl === undefined)("kubectl", () => {
  test.for<[words: readonly string[], candidates: readonly string[]]>([
    [["pl"], ["plan"]],
    [["status", "--wat"], ["--watch"]],
    [
      ["status", "-o", "j"],
      ["jsonl", "json"],
    ],
    [["status", "--output=w"], ["--output=wide"]],
    [["explain", "Quota"], ["QuotaExceeded"]],
    [["nonsense", ""], []],
  ])("offers behind kubectl flipop %j what flipop does", ([words, candidates]) => {
    const { stdout, status } = run("__complete", "flipop", ...words);
    const [directive, ...offered] = stdout.trimEnd().split("\n").toReversed();
    expect([offered.map((line) => line.replace(/\t.*/, "")), directive, status]).toEqual([candidates, ":4", 0]);
  });

  test("runs flipop, which says how it was called", () => {
    expect(run("flipop", "version")).toMatchObject({ stdout: expect.stringMatching(/^flipop \d/), status: 0 });
    expect(run("flipop", "plan", "--help").stdout).toMatch(/^Usage: kubectl flipop plan /);
    expect(run("flipop", "plann").status).toBe(64);
  });

  test("lists flipop among its plugins", () => {
    expect(run("plugin", "list", "--name-only").stdout.split("\n")).toContain("kubectl-flipop");
  });
});
