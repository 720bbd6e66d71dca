import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { builtForImage } from "../programs/built-package.ts";
import { isAssignRequest } from "./cloud.ts";
import { cronJobContainer } from "./container.ts";
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
  const { pods, memoryLimit } = await asPods(world);
  return {
    title: "Start: a new process each time",
    figures: [
      timeFigure("flipop --version", version.map(wall), { wanted: "≤ 100 ms" }),
      timeFigure("flipop status", status.map(wall), { wanted: "≤ 300 ms" }),
      timeFigure("flipop reconcile, 3 nodes: process start → first assign request", assign.map(wall), {
        goOperator: "138 ms",
      }),
      timeFigure("the same without a compile cache", uncached.map(wall)),
      ...memory("flipop reconcile, 3 nodes: peak memory", assign, { goOperator: "46 MB" }),
      timeFigure("the CronJob's container, 3 nodes: process start → first assign request", pods.map(wall), {
        goOperator: "138 ms",
      }),
      timeFigure(
        "the same: processor time of the whole run",
        pods.flatMap(({ processorMs }) => processorMs ?? []),
        { wanted: "≤ 200 ms" },
      ),
      ...memory(`the same: peak memory, of ${memoryLimit}`, pods, { wanted: "≤ 80 MB", goOperator: "46 MB" }),
    ],
  };
}

/** Runs the program as pods of the CronJob do: built as the image holds it, with the container's arguments and flags. */
async function asPods(world: World): Promise<{ readonly pods: readonly Start[]; readonly memoryLimit: string }> {
  const app = await builtForImage();
  try {
    const container = cronJobContainer(app);
    return { pods: await repeat(() => firstAssign(world, { container })), memoryLimit: container.memory };
  } finally {
    rmSync(dirname(app), { recursive: true, force: true });
  }
}

/** Peak memory of runs; no figure where the system does not tell. */
function memory(
  what: string,
  runs: readonly Pick<ProgramRun, "peakMB">[],
  beside: Parameters<typeof memoryFigure>[2],
): readonly Figure[] {
  const peaks = runs.flatMap(({ peakMB }) => peakMB ?? []);
  return peaks.length === 0 ? [] : [memoryFigure(what, peaks, beside)];
}

/** A run, measured until its first request for an assignment; memory and processor time are of the whole run. */
type Start = Pick<ProgramRun, "wallMs" | "peakMB" | "processorMs">;

async function firstAssign(world: World, how: RunOptions): Promise<Start> {
  return await withScene(world, { nodes: 3, addresses: 3 }, async ({ cloud, run }) => {
    const { startedAtMs, peakMB, processorMs } = await run(["reconcile"], how);
    const first = cloud.calls.find(isAssignRequest);
    if (first === undefined) throw new Error("no address was assigned");
    return { wallMs: first.atMs - startedAtMs, peakMB, processorMs };
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
