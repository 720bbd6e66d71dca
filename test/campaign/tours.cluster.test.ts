import { beforeAll, expect, test } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import { clusterWorld, prepareCluster } from "../scenario/cluster-world.ts";
import { playCampaign } from "./play-campaign.ts";
import { References } from "./references.ts";
import { pairedTours } from "./tours.ts";

describeCluster("campaigns on a real API server", (facts) => {
  const references = new References();
  beforeAll(() => prepareCluster(facts));

  test.for(pairedTours())(
    "$title: after every transition between two values an object is what a fresh one would be, or says what is wrong",
    async ({ steps, command }) => {
      const backend = await clusterWorld(facts, 0, "");
      await expect(playCampaign(backend, steps, { references, command })).resolves.toBeDefined();
    },
  );
});
