import { expect } from "vitest";
import type { Backend } from "./backend.ts";
import { partOf } from "./part-of.ts";
import { type Drive, runScenarios } from "./run-scenarios.ts";
import { WatchedWorld } from "./watched-world.ts";

/** Three of the process's intervals, milliseconds. */
const AFTER_MS = 180_000;

/** As {@link runScenarios}, with one watching process in place of single runs; `oneIn` says how many are played where not all are. */
export function runWatchedScenarios(
  kind: Backend["kind"],
  makeBackend: () => Backend | Promise<Backend>,
  oneIn: number,
): void {
  runScenarios(kind, makeBackend, watchedDrive(`${kind}, watched`, oneIn));
}

/** One watching process in place of single runs, for one in `oneIn` of the scenarios where not all are played. What is idle in the end writes nothing more. */
export function watchedDrive(name: string, oneIn: number): Drive<WatchedWorld> {
  const part = partOf(oneIn);
  return {
    name,
    select: (all, group) =>
      part(
        all.filter(({ options }) => options.onlySingleRuns === undefined),
        group,
      ),
    open: (backend) => new WatchedWorld(backend),
    after: async (world) => {
      expect(await world.writesWithin(AFTER_MS), "nothing is written while nothing changes").toEqual([]);
    },
  };
}
