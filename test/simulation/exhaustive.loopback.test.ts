import { expect, test } from "vitest";
import { explain } from "./explain.ts";
import { playCampaign } from "./play-stories.ts";
import { stories } from "./stories.ts";
import { CAMPAIGNS } from "./strikes.ts";

const FAILURES = "every failure of every call";
const PAUSES = "a pause longer than the Lease after every call";
const CHANGES = "changes nobody sees in between, at every call";
const FAILOVER = "a name follows a failover, at DigitalOcean";
const CLOUDFLARE = "a name follows a failover, at Cloudflare";
const RENAMED = "a pool is renamed and cleans the old name";
const MOVED = "a record set moves from DigitalOcean to Cloudflare and cleans up";

/** The campaigns of thousands of histories are played here for these stories, by `npm run simulate -- --stories` for all; every other campaign for all of them. */
const PLAYED: Readonly<Record<string, readonly string[]>> = {
  [FAILURES]: [
    "first fill",
    "failover",
    "acquire",
    "desired lowered",
    "pool deleted",
    FAILOVER,
    CLOUDFLARE,
    RENAMED,
    MOVED,
  ],
  [PAUSES]: ["acquire", FAILOVER],
  [CHANGES]: ["failover"],
};

const CASES = stories().flatMap((story) =>
  Object.entries(CAMPAIGNS)
    .filter(([name]) => PLAYED[name]?.includes(story.name) !== false)
    .map(([name, campaign]) => ({ story, name, campaign, title: `${story.name}: ${name}` })),
);

test("every campaign is played, and each for the stories it is to be played for", () => {
  expect([...new Set(CASES.map(({ name }) => name))].toSorted()).toEqual(Object.keys(CAMPAIGNS).toSorted());
  for (const [campaign, names] of Object.entries(PLAYED))
    expect(CASES.filter(({ name }) => name === campaign)).toHaveLength(names.length);
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
