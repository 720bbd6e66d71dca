import type { StoryWorld } from "./story-world.ts";

/** One of the sixteen stories that a trial of the command line began with. */
export interface Story {
  readonly title: string;
  /** Plays it in a world that is as it should be. @throws Error when something does not come out as it should */
  readonly play: (world: StoryWorld) => Promise<void>;
  /** What a person has to be told → where the commands say it. */
  readonly told: Readonly<Record<string, string | RegExp>>;
  /** What must not be said: why → the text. Absent = nothing. */
  readonly untold?: Readonly<Record<string, string | RegExp>>;
}
