import { expect, test } from "vitest";
import { memoryWorld } from "../scenario/memory-world.ts";
import { sandboxWorld } from "../scenario/sandbox-world.ts";
import { playCampaign } from "./play-campaign.ts";
import { allFieldValues, randomCampaign } from "./random-campaign.ts";
import { References } from "./references.ts";

const fields = allFieldValues();
const references = new References();

/** `CAMPAIGN=all` plays more of them. */
const COUNT = process.env["CAMPAIGN"] === "all" ? 40 : 12;

test.for(Array.from({ length: COUNT }, (_, index) => 1001 + index))(
  "after every edit of random campaign %i both objects are what fresh ones would be, or say what is wrong",
  async (seed) => {
    const command = `npm run campaign -- --seed ${seed}`;
    await expect(
      playCampaign(memoryWorld(), randomCampaign(seed, fields), { references, command }),
    ).resolves.toBeDefined();
  },
);

test.for([2001, 2002])("over HTTP random campaign %i ends as in memory", async (seed) => {
  const backend = await sandboxWorld();
  const command = `npm run campaign -- --seed ${seed}`;
  await expect(playCampaign(backend, randomCampaign(seed, fields), { references, command })).resolves.toBeDefined();
});
