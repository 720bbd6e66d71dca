import { expect, test } from "vitest";
import { commonGroups, NOT_SO_TITLES, ownGroups } from "./hetzner-scenarios.ts";
import { hetznerWorld } from "./memory-world.ts";
import { partOf } from "./part-of.ts";
import { chosen, runGroups } from "./run-scenarios.ts";
import { World } from "./world.ts";

const drive = { name: "Hetzner", open: (backend: ReturnType<typeof hetznerWorld>) => new World(backend) };

// One in twelve, or with `SCENARIOS=all` every one.
runGroups(commonGroups(), hetznerWorld, { ...drive, select: partOf(12) });
runGroups(ownGroups(), hetznerWorld, { ...drive, select: (scenarios) => scenarios });

test("every history that is not played here is one of the others", () => {
  const titles = chosen("memory", (scenarios) => scenarios).flatMap(({ scenarios }) =>
    scenarios.map(({ title }) => title),
  );
  expect(NOT_SO_TITLES.filter((beginning) => !titles.some((title) => title.startsWith(beginning)))).toEqual([]);
});
