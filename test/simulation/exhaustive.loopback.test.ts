import { expect, test } from "vitest";
import { explain } from "./explain.ts";
import { playCampaign } from "./play-stories.ts";
import { routedStories } from "./routed-stories.ts";
import { stories } from "./stories.ts";
import { CAMPAIGNS } from "./strikes.ts";

const FAILURES = "every failure of every call";
const PAUSES = "a pause longer than the Lease after every call";
const CHANGES = "changes nobody sees in between, at every call";
const FAILOVER = "a name follows a failover, at DigitalOcean";
const CLOUDFLARE = "a name follows a failover, at Cloudflare";
const RENAMED = "a pool is renamed and cleans the old name";
const MOVED = "a record set moves from DigitalOcean to Cloudflare and cleans up";

/** The campaigns of thousands of histories are played here for these stories, by `npm run play -- --stories` for all; every other campaign for all of them. */
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

/** Of every campaign's histories one in so many is played, of those with thousands fewer; `npm run play -- --stories` plays all. */
const ONE_IN = 20;
const ONE_OF_MANY: Readonly<Record<string, number>> = { [FAILURES]: 120, [CHANGES]: 120 };

/** Of the stories of RoutedIPs so much is played here; `npm run play -- --routed --stories` plays all of them in every way. */
const PLAYED_ROUTED: readonly string[] = [
  "an issuer names another firewall: a death at every call",
  "a RoutedIP is made: a whole view of the past at every pass",
];
const ROUTED: ReadonlySet<string> = new Set(routedStories().map(({ name }) => name));

function isPlayed(story: string, campaign: string): boolean {
  if (ROUTED.has(story)) return PLAYED_ROUTED.includes(`${story}: ${campaign}`);
  return PLAYED[campaign]?.includes(story) !== false;
}

const CASES = stories().flatMap((story) =>
  Object.entries(CAMPAIGNS)
    .filter(([name]) => isPlayed(story.name, name))
    .map(([name, campaign]) => ({
      story,
      campaign,
      oneIn: ONE_OF_MANY[name] ?? ONE_IN,
      name,
      title: `${story.name}: ${name}`,
    })),
);

test("every campaign is played, and each for the stories it is to be played for", () => {
  expect([...new Set(CASES.map(({ name }) => name))].toSorted()).toEqual(Object.keys(CAMPAIGNS).toSorted());
  for (const [campaign, names] of Object.entries(PLAYED))
    expect(CASES.filter(({ name }) => name === campaign)).toHaveLength(names.length);
  expect(CASES.filter(({ story }) => ROUTED.has(story.name))).toHaveLength(PLAYED_ROUTED.length);
});

test.for(CASES)("every promise holds in the story $title", async ({ story, campaign, oneIn }) => {
  const { count, broken } = await playCampaign(story, campaign, oneIn);
  if (broken !== undefined) {
    const lines = await explain(broken.history, 80);
    expect.fail([`${broken.invariant}: ${broken.text}`, ...lines, "", broken.command].join("\n"));
  }
  expect(count).toBeGreaterThan(0);
});
