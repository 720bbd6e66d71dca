import { ACCOUNT_STORIES } from "./account-stories.ts";
import { NODE_STORIES } from "./node-stories.ts";
import type { Story } from "./story.ts";
import { WISH_STORIES } from "./wish-stories.ts";

/** All stories, by title. */
export const STORIES: readonly Story[] = [...NODE_STORIES, ...ACCOUNT_STORIES, ...WISH_STORIES].toSorted((a, b) =>
  a.title < b.title ? -1 : 1,
);
