import { memoryWorld } from "./memory-world.ts";
import { notForEverySave } from "./part-of.ts";
import { runScenarios } from "./run-scenarios.ts";
import { LOOKED_AT } from "./snapshot-world.ts";

runScenarios("memory", memoryWorld, {
  select: notForEverySave("odd"),
  ...LOOKED_AT,
  name: "memory",
});
