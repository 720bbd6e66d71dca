import { afterAll, describe, expect, test } from "vitest";
import { memoryWorld } from "./memory-world.ts";
import { partOf } from "./part-of.ts";
import { chosen } from "./run-scenarios.ts";
import { play } from "./scenario.ts";
import { StoryWorld, Told } from "./story-world.ts";

let played = 0;
let told = 0;
let toldFar = 0;

const groups = chosen("memory", partOf(8)).filter(({ scenarios }) => scenarios.length > 0);

describe.for(groups)("what is told of $group", ({ scenarios }) => {
  test.for(scenarios)("$title: run for run", async (scenario) => {
    played += 1;
    const world = new StoryWorld(memoryWorld());
    try {
      await play(scenario, world);
    } finally {
      told += world.told;
      await world.close();
    }
    expect(world.told).toBeLessThanOrEqual(world.runs);
  });

  test.for(scenarios)("$title: half an hour from its first run on", async (scenario) => {
    played += 1;
    const world = new StoryWorld(memoryWorld());
    world.tellsFar = true;
    await world.namespace();
    try {
      await scenario.body(world);
    } catch (error) {
      if (!(error instanceof Told)) throw error;
    } finally {
      toldFar += world.told;
      await world.close();
    }
    expect(world.told).toBeLessThanOrEqual(world.runs);
  });
});

afterAll(() => {
  if (played < 2 * groups.reduce((sum, { scenarios }) => sum + scenarios.length, 0)) return;
  expect(told, "runs that were told").toBeGreaterThan(40);
  expect(toldFar, "stories of half an hour").toBeGreaterThan(12);
});
