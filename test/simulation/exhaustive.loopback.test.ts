import { expect, test } from "vitest";
import { explain } from "./explain.ts";
import { playCampaign } from "./play-stories.ts";
import { stories } from "./stories.ts";
import { CAMPAIGNS } from "./strikes.ts";

const CASES = stories().flatMap((story) =>
  Object.entries(CAMPAIGNS).map(([name, campaign]) => ({ story, name, campaign, title: `${story.name}: ${name}` })),
);

/** Longer than the longest campaign on a busy machine, milliseconds. */
const timeout = 240_000;

test.for(CASES)("every promise holds in the story $title", { timeout }, async ({ story, campaign }) => {
  const { count, broken } = await playCampaign(story, campaign);
  if (broken !== undefined) {
    const lines = await explain(broken.history, 80);
    expect.fail([`${broken.invariant}: ${broken.text}`, ...lines, "", broken.command].join("\n"));
  }
  expect(count).toBeGreaterThan(5);
});
