import { runWatchedScenarios } from "./run-watched-scenarios.ts";
import { sandboxWorld } from "./sandbox-world.ts";

runWatchedScenarios("sandbox", sandboxWorld, 24);
