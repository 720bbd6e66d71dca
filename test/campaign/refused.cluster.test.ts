import { beforeAll } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import { clusterWorld, prepareCluster } from "../scenario/cluster-world.ts";
import { testRefusals } from "./refused.ts";

describeCluster("refusals of a real API server", (facts) => {
  beforeAll(() => prepareCluster(facts));
  testRefusals(() => clusterWorld(facts, 0, ""));
});
