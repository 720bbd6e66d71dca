import { onSandbox } from "./part-of.ts";
import { runScenarios } from "./run-scenarios.ts";
import { sandboxWorld } from "./sandbox-world.ts";
import { World } from "./world.ts";

runScenarios("sandbox", sandboxWorld, {
  name: "sandbox",
  select: onSandbox(),
  open: (backend) => new World(backend),
});
