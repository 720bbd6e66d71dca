import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { IP_FAMILIES } from "../../src/model/node-annotations.ts";
import { HETZNER_FAMILY_BUGS } from "./family-bugs.ts";
import { HETZNER_BUGS } from "./hetzner-bugs.ts";
import { playHetznerPools } from "./hetzner-pools.ts";

const PROGRAM = fileURLToPath(new URL("run.ts", import.meta.url));
/** `HETZNER_POOLS=1000` plays as many histories. */
const HISTORIES = Number(process.env["HETZNER_POOLS"] ?? 4);
const IN_ONE_TEST = 4;
/** Histories, each of which stands for a fixed bug, or was misjudged once. */
const ONCE_BROKEN = [3049, 3095, 4095, 38_000_010, 42_000_140];
const ONCE_BROKEN_OF_BOTH_FAMILIES = [64, 111, 114, 38_000_070];

const blocks = Array.from({ length: Math.ceil(HISTORIES / IN_ONE_TEST) }, (_, block) => block * IN_ONE_TEST + 1);

test.for(blocks)(`pools at Hetzner: no promise is broken in ${IN_ONE_TEST} histories from seed %i`, async (first) => {
  for (let seed = first; seed < first + IN_ONE_TEST; seed += 1)
    expect(await playHetznerPools(seed), `npm run play -- --hetzner --seed ${seed}`).toEqual([]);
});

test.for(blocks)(
  `pools of both families at Hetzner: no promise is broken in ${IN_ONE_TEST} histories from seed %i`,
  async (first) => {
    for (let seed = first; seed < first + IN_ONE_TEST; seed += 1)
      expect(await playHetznerPools(seed, IP_FAMILIES), `npm run play -- --hetzner --families --seed ${seed}`).toEqual(
        [],
      );
  },
);

test("pools at Hetzner: histories that broke a promise once", async () => {
  for (const seed of ONCE_BROKEN)
    expect(await playHetznerPools(seed), `npm run play -- --hetzner --seed ${seed}`).toEqual([]);
});

test("pools of both families at Hetzner: histories that broke a promise once", async () => {
  for (const seed of ONCE_BROKEN_OF_BOTH_FAMILIES)
    expect(await playHetznerPools(seed, IP_FAMILIES), `npm run play -- --hetzner --families --seed ${seed}`).toEqual(
      [],
    );
});

const CASES = [
  ...HETZNER_BUGS.map((bug) => ({ ...bug, flags: ["--hetzner"] })),
  ...HETZNER_FAMILY_BUGS.map((bug) => ({ ...bug, flags: ["--hetzner", "--families"] })),
];

test.for(CASES)("histories of pools at Hetzner catch: $name", ({ name, seed, flags }) => {
  const args = ["--disable-warning=ExperimentalWarning", PROGRAM, ...flags, "--bug", name, "--seed", `${seed}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: expect.stringMatching(`^seed ${seed}: `),
    stderr: "",
  });
});
