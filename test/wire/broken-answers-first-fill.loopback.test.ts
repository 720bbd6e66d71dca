import { describeBrokenAnswers } from "./break-answers.ts";
import { wireStory } from "./wire-story.ts";

describeBrokenAnswers(wireStory("the first fill"));
