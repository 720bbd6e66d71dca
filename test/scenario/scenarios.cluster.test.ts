import { beforeAll } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import { clusterWorld, prepareEarlierCluster } from "./cluster-world.ts";
import { onCluster } from "./part-of.ts";
import { runScenarios } from "./run-scenarios.ts";
import { World } from "./world.ts";

describeCluster("real API server", (facts) => {
  beforeAll(() => prepareEarlierCluster(facts));
  runScenarios("cluster", (number) => clusterWorld(facts, number), {
    name: "cluster",
    select: onCluster(),
    open: (backend) => new World(backend),
  });
});
