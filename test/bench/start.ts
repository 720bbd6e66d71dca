import { isAssignRequest } from "./cloud.ts";
import { type Figure, memoryFigure, timeFigure } from "./figure.ts";
import { type ProgramRun, runProgram } from "./program.ts";
import { type RunOptions, withScene } from "./scene.ts";
import type { Section } from "./table.ts";
import type { World } from "./world.ts";

const RUNS = 11;

/** How long a process takes to be of use. */
export async function benchStart(world: World): Promise<Section> {
  await runProgram(["--version"]);
  const version = await repeat(() => runProgram(["--version"]));
  const status = await withScene(world, { nodes: 3, addresses: 3 }, async ({ run }) => {
    await run(["reconcile"]);
    await run(["status"]);
    return await repeat(() => run(["status"]));
  });
  const assign = await repeat(() => firstAssign(world, {}));
  const uncached = await repeat(() => firstAssign(world, { isUncached: true }));
  return {
    title: "Start: a new process each time",
    figures: [
      timeFigure("flipop --version", version.map(wall), { wanted: "≤ 100 ms" }),
      timeFigure("flipop status", status.map(wall), { wanted: "≤ 300 ms" }),
      timeFigure("flipop reconcile, 3 nodes: process start → first assign request", assign.map(wall), {
        goOperator: "138 ms",
      }),
      timeFigure("the same without a compile cache", uncached.map(wall)),
      ...memory("flipop reconcile, 3 nodes: peak memory", assign, "46 MB"),
    ],
  };
}

/** Peak memory of runs; no figure where the system does not tell. */
function memory(what: string, runs: readonly Pick<ProgramRun, "peakMB">[], goOperator: string): readonly Figure[] {
  const peaks = runs.flatMap(({ peakMB }) => peakMB ?? []);
  return peaks.length === 0 ? [] : [memoryFigure(what, peaks, { goOperator })];
}

async function firstAssign(world: World, how: RunOptions): Promise<Pick<ProgramRun, "wallMs" | "peakMB">> {
  return await withScene(world, { nodes: 3, addresses: 3 }, async ({ cloud, run }) => {
    const { startedAtMs, peakMB } = await run(["reconcile"], how);
    const first = cloud.calls.find(isAssignRequest);
    if (first === undefined) throw new Error("no address was assigned");
    return { wallMs: first.atMs - startedAtMs, peakMB };
  });
}

async function repeat<T>(work: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let run = 0; run < RUNS; run += 1) results.push(await work());
  return results;
}

function wall({ wallMs }: Pick<ProgramRun, "wallMs">): number {
  return wallMs;
}
