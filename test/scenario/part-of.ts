import type { Scenario } from "./scenario.ts";

/** `SCENARIOS=all` plays everything; else a part of it, the same at every run, so that the suite keeps to its time. */
const isAll = process.env["SCENARIOS"] === "all";

/** Chooses one in `oneIn` of the scenarios it is given, group by group, counted over all of them; of the groups named in `whole` every one. */
export function partOf(
  oneIn: number,
  whole: readonly string[] = [],
): (scenarios: readonly Scenario[], group: string) => readonly Scenario[] {
  let place = 0;
  return (scenarios, group) =>
    scenarios.filter(() => {
      place += 1;
      return isAll || whole.includes(group) || place % oneIn === 0;
    });
}
