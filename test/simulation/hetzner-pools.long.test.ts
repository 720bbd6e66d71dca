import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { HETZNER_BUGS } from "./hetzner-bugs.ts";
import { playHetznerPools } from "./hetzner-pools.ts";

const PROGRAM = fileURLToPath(new URL("run.ts", import.meta.url));
/** `HETZNER_POOLS=1000` plays as many histories. */
const HISTORIES = Number(process.env["HETZNER_POOLS"] ?? 12);
const IN_ONE_TEST = 4;

const blocks = Array.from({ length: Math.ceil(HISTORIES / IN_ONE_TEST) }, (_, block) => block * IN_ONE_TEST + 1);

test.for(blocks)(`pools at Hetzner: no promise is broken in ${IN_ONE_TEST} histories from seed %i`, async (first) => {
  for (let seed = first; seed < first + IN_ONE_TEST; seed += 1)
    expect(await playHetznerPools(seed), `npm run play -- --hetzner --seed ${seed}`).toEqual([]);
});

test.for(HETZNER_BUGS)("histories of pools at Hetzner catch: $name", ({ name, seed }) => {
  const args = ["--disable-warning=ExperimentalWarning", PROGRAM, "--hetzner", "--bug", name, "--seed", `${seed}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: expect.stringMatching(`^seed ${seed}: `),
    stderr: "",
  });
});
