import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SHARED_NAME_BUGS } from "./shared-name-bugs.ts";

const PROGRAM = fileURLToPath(new URL("run.ts", import.meta.url));

test.for(SHARED_NAME_BUGS)("histories of a shared name catch: $name", ({ name, seed }) => {
  expect(play("--seed", `${seed}`), "the history without the bug").toMatchObject({ status: 0 });
  expect(play("--bug", name, "--seed", `${seed}`)).toEqual({
    status: 1,
    stdout: expect.stringMatching(`^seed ${seed}: `),
    stderr: "",
  });
});

function play(...options: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const args = ["--disable-warning=ExperimentalWarning", PROGRAM, "--shared", ...options];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, stdout, stderr };
}
