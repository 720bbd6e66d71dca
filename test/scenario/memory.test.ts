import { memoryWorld } from "./memory-world.ts";
import { forEverySave } from "./part-of.ts";
import { runScenarios } from "./run-scenarios.ts";
import { World } from "./world.ts";

runScenarios("memory", memoryWorld, {
  select: forEverySave(),
  open: (backend) => new World(backend),
  name: "memory",
});
