import { memoryWorld } from "./memory-world.ts";
import { runWatchedScenarios } from "./run-watched-scenarios.ts";

runWatchedScenarios("memory", memoryWorld, 24);
