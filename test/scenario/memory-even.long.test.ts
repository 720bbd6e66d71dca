import { memoryWorld } from "./memory-world.ts";
import { notForEverySave } from "./part-of.ts";
import { runScenarios } from "./run-scenarios.ts";
import { SnapshotWorld } from "./snapshot-world.ts";

runScenarios("memory", memoryWorld, {
  select: notForEverySave("even"),
  open: (backend) => new SnapshotWorld(backend),
  after: (world) => world.checkSnapshot(),
  name: "memory",
});
