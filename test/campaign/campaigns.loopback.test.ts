import { expect, test } from "vitest";
import { sandboxWorld } from "../scenario/sandbox-world.ts";
import { playCampaign } from "./play-campaign.ts";
import { campaignCommand, choiceOf, randomCampaign } from "./random-campaign.ts";
import { References } from "./references.ts";

const choice = choiceOf();
const references = new References();

test.for([2001, 2002])("over HTTP random campaign %i ends as in memory", async (seed) => {
  const backend = await sandboxWorld();
  const command = campaignCommand(seed);
  await expect(playCampaign(backend, randomCampaign(seed, choice), { references, command })).resolves.toBeDefined();
});
