import { afterAll, describe, expect, test } from "vitest";
import { memoryWorld } from "./memory-world.ts";
import { partOf } from "./part-of.ts";
import { chosen } from "./run-scenarios.ts";
import { play } from "./scenario.ts";
import { StoryWorld, Told } from "./story-world.ts";

let played = 0;
let told = 0;
let toldFar = 0;
let measured = 0;
let eventful = 0;

const groups = chosen("memory", partOf(20)).filter(({ scenarios }) => scenarios.length > 0);

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

  // In the first run names are made; from the second one on there is somebody to lose them.
  const far = scenarios.flatMap((scenario) => [1, 2].map((from) => ({ ...scenario, from })));
  test.for(far)("$title: half an hour from run $from on, and what clients of names get", async ({ body, from }) => {
    played += 1;
    const world = new StoryWorld(memoryWorld());
    world.tellsFar = from;
    await world.namespace();
    try {
      await body(world);
    } catch (error) {
      if (!(error instanceof Told)) throw error;
    } finally {
      toldFar += world.told;
      measured += world.measured;
      eventful += world.eventful;
      await world.close();
    }
    expect(world.told).toBeLessThanOrEqual(world.runs);
  });
});

afterAll(() => {
  if (played < 3 * groups.reduce((sum, { scenarios }) => sum + scenarios.length, 0)) return;
  expect(told, "runs that were told").toBeGreaterThan(40);
  expect(toldFar, "stories of half an hour").toBeGreaterThan(12);
  expect(measured, "names whose service was told and measured").toBeGreaterThan(50);
  expect(eventful, "names that lacked service, or showed what does not answer").toBeGreaterThan(1);
});
