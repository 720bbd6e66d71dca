import { expect, test } from "vitest";
import { isCronSchedule } from "../../src/cli/manifests.ts";
import { BAD_SCHEDULES, GOOD_SCHEDULES } from "../manifests/schedules.ts";

test.for(GOOD_SCHEDULES)("%s is a schedule", (text) => {
  expect(isCronSchedule(text)).toBe(true);
});

test.for(BAD_SCHEDULES)("%s is no schedule", (text) => {
  expect(isCronSchedule(text)).toBe(false);
});
