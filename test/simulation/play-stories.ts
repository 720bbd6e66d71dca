import { explain } from "./explain.ts";
import type { History } from "./history.ts";
import type { Violation } from "./monitor.ts";
import { Simulation } from "./simulation.ts";
import { stories } from "./stories.ts";
import type { Story } from "./story.ts";
import { CAMPAIGNS, type Campaign, struckHistories } from "./strikes.ts";

/** A struck story that breaks a promise. */
export interface BrokenStory {
  readonly invariant: string;
  readonly text: string;
  readonly history: History;
  /** The command that tells it. */
  readonly command: string;
}

/** Plays a story struck at every call in the ways of a campaign, or only one in so many of those histories, and returns how many that were and the first that is broken. */
export async function playCampaign(
  { name, history }: Story,
  campaign: Campaign,
  oneIn = 1,
): Promise<{ readonly count: number; readonly broken: BrokenStory | undefined }> {
  // Each story begins at another place: the calls that they have in common are struck in other ways.
  const all = await struckHistories(history, campaign);
  const first = name.length % Math.min(oneIn, all.length);
  const struck = all.filter((_, at) => at % oneIn === first);
  for (const candidate of struck) {
    const { violation } = await new Simulation(candidate, false).run();
    if (violation === undefined) continue;
    const command = `npm run play -- --story ${JSON.stringify(name)} --strike '${JSON.stringify(candidate.strike)}'`;
    return { count: struck.length, broken: { ...violation, history: candidate, command } };
  }
  return { count: struck.length, broken: undefined };
}

/** Plays every one of these stories in every campaign. Returns one line for each, ending at the first broken one. */
export async function* playStories(
  chosen: readonly Story[],
): AsyncGenerator<{ readonly line: string; readonly broken?: BrokenStory }> {
  for (const story of chosen) {
    for (const [name, campaign] of Object.entries(CAMPAIGNS)) {
      const { count, broken } = await playCampaign(story, campaign);
      yield broken === undefined
        ? { line: `${story.name}, ${name}: ${count} histories` }
        : { line: `story ${story.name}: ${broken.invariant}: ${broken.text}`, broken };
    }
  }
}

/** What a struck story breaks, if anything. @throws Error when there is no story of that name */
export async function strikeStory(name: string, strike: string): Promise<Violation | undefined> {
  return (await new Simulation(struck(name, strike), false).run()).violation;
}

/** One struck story in lines of text. @throws Error when there is no story of that name */
export function tellStory(name: string, strike: string, lines: number): Promise<readonly string[]> {
  return explain(struck(name, strike), lines);
}

function struck(name: string, strike: string): History {
  const known = stories();
  const story = known.find((candidate) => candidate.name === name);
  if (story === undefined)
    throw new Error(`no story "${name}"; there are ${known.map((other) => other.name).join(", ")}`);
  const parsed = JSON.parse(strike) as NonNullable<History["strike"]>;
  const campaign = parsed.how === "freezes" ? CAMPAIGNS["a pause longer than the Lease after every call"] : undefined;
  const history = campaign === undefined ? story.history : campaign.prepare(story.history);
  return { ...history, strike: parsed };
}
