import { runScenarios } from "./run-scenarios.ts";
import { sandboxWorld } from "./sandbox-world.ts";

runScenarios("sandbox", sandboxWorld);
