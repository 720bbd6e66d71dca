import { expect, test } from "vitest";
import { explain } from "./explain.ts";
import { playCampaign } from "./play-stories.ts";
import { stories } from "./stories.ts";
import { CAMPAIGNS } from "./strikes.ts";

/** More histories than all other campaigns together: played here for the stories with most at stake, by `npm run simulate -- --stories` for all. */
const LARGEST = "changes nobody sees in between, at every call";
const MOST_AT_STAKE: ReadonlySet<string> = new Set(["failover", "acquire", "a name follows a failover, at Cloudflare"]);

const CASES = stories().flatMap((story) =>
  Object.entries(CAMPAIGNS)
    .filter(([name]) => name !== LARGEST || MOST_AT_STAKE.has(story.name))
    .map(([name, campaign]) => ({ story, name, campaign, title: `${story.name}: ${name}` })),
);

test("every campaign is played", () => {
  expect(Object.keys(CAMPAIGNS)).toContain(LARGEST);
  expect(CASES.filter(({ name }) => name === LARGEST)).toHaveLength(MOST_AT_STAKE.size);
});

/** Longer than the longest campaign on a busy machine, milliseconds. */
const timeout = 240_000;

test.for(CASES)("every promise holds in the story $title", { timeout }, async ({ story, campaign }) => {
  const { count, broken } = await playCampaign(story, campaign);
  if (broken !== undefined) {
    const lines = await explain(broken.history, 80);
    expect.fail([`${broken.invariant}: ${broken.text}`, ...lines, "", broken.command].join("\n"));
  }
  expect(count).toBeGreaterThan(1);
});
