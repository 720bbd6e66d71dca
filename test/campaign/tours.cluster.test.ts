import { beforeAll, expect, test } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import { clusterWorld, prepareEarlierCluster } from "../scenario/cluster-world.ts";
import { playCampaign } from "./play-campaign.ts";
import { References } from "./references.ts";
import { pairedTours } from "./tours.ts";

/** Every tour is played in memory; here every twelfth one, so that the suite keeps to its time, and with `CAMPAIGN=all` all of them. */
const tours = pairedTours().filter((_, place) => process.env["CAMPAIGN"] === "all" || place % 12 === 4);

describeCluster("campaigns on a real API server", (facts) => {
  const references = new References();
  beforeAll(() => prepareEarlierCluster(facts));

  test.for(tours)(
    "$title: after every transition between two values an object is what a fresh one would be, or says what is wrong",
    async ({ steps, command }) => {
      const backend = await clusterWorld(facts, 0, "");
      await expect(playCampaign(backend, steps, { references, command })).resolves.toBeDefined();
    },
  );
});
