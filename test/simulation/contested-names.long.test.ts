import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { CONTESTED_NAME_BUGS } from "./contested-name-bugs.ts";
import { playContestedName } from "./contested-names.ts";

const PROGRAM = fileURLToPath(new URL("run.ts", import.meta.url));
/** `CONTESTED_NAMES=1000` plays as many histories. */
const HISTORIES = Number(process.env["CONTESTED_NAMES"] ?? 8);
const IN_ONE_TEST = 4;

const blocks = Array.from({ length: Math.ceil(HISTORIES / IN_ONE_TEST) }, (_, block) => block * IN_ONE_TEST + 1);

test.for(blocks)(
  `another controller wants the name: no promise is broken in ${IN_ONE_TEST} histories from seed %i`,
  async (first) => {
    for (let seed = first; seed < first + IN_ONE_TEST; seed += 1)
      expect(await playContestedName(seed), `npm run play -- --contested --seed ${seed}`).toEqual([]);
  },
);

test.for(CONTESTED_NAME_BUGS)("histories of a contested name catch: $name", ({ name, seed }) => {
  const args = ["--disable-warning=ExperimentalWarning", PROGRAM, "--contested", "--bug", name, "--seed", `${seed}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: expect.stringMatching(`^seed ${seed}: `),
    stderr: "",
  });
});
