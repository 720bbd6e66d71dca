import { memoryWorld } from "./memory-world.ts";
import { runScenarios } from "./run-scenarios.ts";

runScenarios("memory", memoryWorld);
