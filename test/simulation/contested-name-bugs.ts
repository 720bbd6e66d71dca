import type { SharedNameBug } from "./shared-name-bugs.ts";

/** Bugs that histories of a contested name must find, each by itself. */
export const CONTESTED_NAME_BUGS: readonly SharedNameBug[] = [
  {
    seed: 1,
    name: "A name is put right at once, however often somebody else rewrites it.",
    file: "src/plan/names/fights.ts",
    find: "const BEGINS_WITH = 3;",
    replace: "const BEGINS_WITH = 999;",
  },
  {
    seed: 4,
    name: "What is wanted anew waits like a repair.",
    file: "src/plan/names/fights.ts",
    find: "if (isAbout(fight, target)) return fight.addresses.join() === wanted.join();",
    replace: "if (isAbout(fight, target)) return true;",
  },
  {
    seed: 17,
    name: "The wait for the next repair never ends.",
    file: "src/plan/names/fights.ts",
    find: "retryDelayMs(schedule, fight.count - BEGINS_WITH + 1);",
    replace: "retryDelayMs(schedule, fight.count - BEGINS_WITH + 1) + 9e9;",
  },
];
