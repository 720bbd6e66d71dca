import { beforeAll } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import { clusterWorld, prepareCluster } from "./cluster-world.ts";
import { runScenarios } from "./run-scenarios.ts";

describeCluster("real API server", (facts) => {
  beforeAll(() => prepareCluster(facts));
  runScenarios("cluster", (number) => clusterWorld(facts, number));
});
