import type { Scenario } from "./scenario.ts";

/** `SCENARIOS=all` plays everything; else a part of it, the same at every run, so that the suite keeps to its time. */
const isAll = process.env["SCENARIOS"] === "all";

/** Chooses one in `oneIn` of the scenarios it is given, group by group, counted over all of them. */
export function partOf(oneIn: number): (scenarios: readonly Scenario[]) => readonly Scenario[] {
  let place = 0;
  return (scenarios) =>
    scenarios.filter(() => {
      place += 1;
      return isAll || place % oneIn === 0;
    });
}
