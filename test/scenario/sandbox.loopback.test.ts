import { notOnCluster } from "./part-of.ts";
import { runScenarios } from "./run-scenarios.ts";
import { sandboxWorld } from "./sandbox-world.ts";
import { World } from "./world.ts";

runScenarios("sandbox", sandboxWorld, {
  name: "sandbox",
  select: notOnCluster(),
  open: (backend) => new World(backend),
});
