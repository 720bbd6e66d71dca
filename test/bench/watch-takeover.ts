import { isAssignRequest } from "./cloud.ts";
import { type Figure, timeFigure } from "./figure.ts";
import { until } from "./until.ts";
import { type PodScene, withPodScene } from "./watch-scene.ts";
import type { World } from "./world.ts";

const NODES = 3;

/** How the leader ends: asked to, or not. */
interface End {
  readonly signal: "SIGTERM" | "SIGKILL";
  readonly runs: number;
  readonly wanted: string;
}

const ENDS: readonly End[] = [
  { signal: "SIGTERM", runs: 11, wanted: "≤ 2 s" },
  { signal: "SIGKILL", runs: 5, wanted: "≤ 16 s: the Lease's 15 s and 1" },
];

/** The leader ends and the pod under the address fails at that moment: how long until the standby asks the provider to move it. */
export async function takeovers(world: World): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { signal, runs, wanted } of ENDS) {
    const ms = await withPodScene(
      world,
      { nodes: NODES, actionMs: 0 },
      async (scene) => await relay(scene, signal, runs),
    );
    figures.push(timeFigure(`${signal} to the leader → assign request of the standby`, ms, { wanted }));
  }
  return figures;
}

/** Each standby is the next leader. */
async function relay(
  { cloud, watch, holder, setReady }: PodScene,
  signal: End["signal"],
  runs: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  let leader = watch();
  try {
    await leader.atWork();
    for (let run = 0; run < runs; run += 1) {
      const standby = watch();
      await standby.standingBy();
      const failing = holder();
      cloud.forgetCalls();
      const startedAtMs = performance.now();
      await leader.stop(signal);
      leader = standby;
      await setReady(failing, false);
      const assign = await until(() => cloud.calls.find(isAssignRequest), "an assign request of the standby");
      times.push(assign.atMs - startedAtMs);
      await leader.atWork();
      await setReady(failing, true);
    }
  } finally {
    await leader.stop("SIGTERM");
  }
  return times;
}
