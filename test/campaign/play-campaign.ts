import type { Backend } from "../scenario/backend.ts";
import { Campaign } from "./campaign.ts";
import { CampaignWorld } from "./campaign-world.ts";
import type { FreshEnds } from "./references.ts";
import { tellSteps } from "./tell.ts";
import type { Step } from "./tours.ts";

/** Plays steps, each of edits made at once, in a new world on this backend; returns for the sake of which parts of product.md an end state was let differ. @throws Error that tells the steps up to the first flaw, and the command that repeats them */
export async function playCampaign(
  backend: Backend,
  steps: readonly (readonly Step[])[],
  { references, command }: { readonly references: FreshEnds; readonly command: string },
): Promise<readonly string[]> {
  const world = await CampaignWorld.open(backend);
  try {
    const campaign = await Campaign.begin(world, references);
    for (const [index, step] of steps.entries()) {
      const flaws = await flawsOf(campaign, step);
      if (flaws.length === 0) continue;
      throw new Error([...flaws, "after", tellSteps(steps.slice(0, index + 1).flat()), command].join("\n"));
    }
    return [...campaign.used.keys()];
  } finally {
    await world.close();
  }
}

async function flawsOf(campaign: Campaign, step: readonly Step[]): Promise<readonly string[]> {
  try {
    return await campaign.step(step);
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}
