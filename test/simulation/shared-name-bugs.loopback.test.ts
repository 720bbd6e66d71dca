import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SHARED_NAME_BUGS } from "./shared-name-bugs.ts";

const PROGRAM = fileURLToPath(new URL("run.ts", import.meta.url));

test.for(SHARED_NAME_BUGS)("histories of a shared name catch: $name", ({ name, seed }) => {
  const args = ["--disable-warning=ExperimentalWarning", PROGRAM, "--shared", "--bug", name, "--seed", `${seed}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: expect.stringMatching(`^seed ${seed}: `),
    stderr: "",
  });
});
