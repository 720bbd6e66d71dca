import { describe, expect, test } from "vitest";
import { KINDS } from "./kinds.ts";
import { playCampaign } from "./play-campaign.ts";
import { campaignCommand, choiceOf, randomCampaign } from "./random-campaign.ts";
import { References } from "./references.ts";
import { OTHERS } from "./settings.ts";
import { fieldTours } from "./tours.ts";

/** `CAMPAIGN=all` plays more of them. */
const SEEDS = process.env["CAMPAIGN"] === "all" ? 40 : 1;

/** The fields that say which addresses are meant, toured by source. A record set goes by nodes, wherever the addresses of pools come from. */
const TOURED: Readonly<Record<string, readonly string[]>> = {
  "digitalocean IPv6": ["ips", "ipFamily", "ipFamilies", "addressType"],
  "hetzner IPv6": ["ips", "ipFamily"],
};

describe.for(OTHERS)("with pools of $source", (setting) => {
  const references = new References(setting);
  const choice = choiceOf(setting);
  const toured = TOURED[setting.source] ?? [];
  const tours = Object.values(KINDS).flatMap((kind) => fieldTours(kind, setting));
  const ofFamilies = tours.filter(({ title }) => toured.some((field) => title.endsWith(` spec.${field}`)));

  test("each field that is to have a tour has one", () => {
    expect(ofFamilies).toHaveLength(toured.length);
  });

  test.for(ofFamilies)(
    "$title: after every transition between two values an object is what a fresh one would be, or says what is wrong",
    async ({ steps, command }) => {
      await expect(playCampaign(setting.open(), steps, { references, command })).resolves.toBeDefined();
    },
  );

  test.for(Array.from({ length: SEEDS }, (_, index) => index + 1))(
    "after every edit of random campaign %i both objects are what fresh ones would be, or say what is wrong",
    async (seed) => {
      const command = campaignCommand(seed, setting);
      await expect(
        playCampaign(setting.open(), randomCampaign(seed, choice), { references, command }),
      ).resolves.toBeDefined();
    },
  );
});
