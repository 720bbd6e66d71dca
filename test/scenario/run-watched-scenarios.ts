import { expect } from "vitest";
import type { Backend } from "./backend.ts";
import { runScenarios } from "./run-scenarios.ts";
import { WatchedWorld } from "./watched-world.ts";

/** `SCENARIOS=all` plays everything; else a part of it, the same at every run, so that the suite keeps to its time. */
const isAll = process.env["SCENARIOS"] === "all";
/** Three of the process's intervals, milliseconds. */
const AFTER_MS = 180_000;

/** As {@link runScenarios}, with one watching process in place of single runs; `oneIn` says how many are played where not all are. What is idle in the end writes nothing more. */
export function runWatchedScenarios(
  kind: Backend["kind"],
  makeBackend: () => Backend | Promise<Backend>,
  oneIn: number,
): void {
  let place = 0;
  runScenarios(kind, makeBackend, {
    name: `${kind}, watched`,
    select: (all) =>
      all.filter(({ options }) => {
        if (options.onlySingleRuns !== undefined) return false;
        place += 1;
        return isAll || place % oneIn === 0;
      }),
    open: (backend) => new WatchedWorld(backend),
    after: async (world) => {
      if (!(world instanceof WatchedWorld)) throw new Error("not watched");
      expect(await world.writesWithin(AFTER_MS), "nothing is written while nothing changes").toEqual([]);
    },
  });
}
