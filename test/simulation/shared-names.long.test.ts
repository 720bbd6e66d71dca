import { expect, test } from "vitest";
import { playSharedName } from "./shared-names.ts";

/** `SHARED_NAMES=10000` plays as many histories. */
const HISTORIES = Number(process.env["SHARED_NAMES"] ?? 40);
const IN_ONE_TEST = 10;

const blocks = Array.from({ length: Math.ceil(HISTORIES / IN_ONE_TEST) }, (_, block) => block * IN_ONE_TEST + 1);

test.for(blocks)(
  `two clusters share a name: no promise is broken in ${IN_ONE_TEST} histories from seed %i`,
  async (first) => {
    for (let seed = first; seed < first + IN_ONE_TEST; seed += 1) {
      expect(await playSharedName(seed), `npm run play -- --shared --seed ${seed}`).toEqual([]);
    }
  },
);

test.for([1283])("both clusters leave the name in one moment, and put it back: seed %i", async (seed) => {
  expect(await playSharedName(seed)).toEqual([]);
});
