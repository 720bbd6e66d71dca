import { isAssignRequest } from "./cloud.ts";
import { type Figure, timeFigure } from "./figure.ts";
import { withScene } from "./scene.ts";
import type { Section } from "./table.ts";
import { nodeName, type World } from "./world.ts";

/** The node of an address fails, and a one-shot run is started at that moment. */
export async function benchFailover(world: World): Promise<Section> {
  return {
    title: "Failover: a node is NotReady, a run starts",
    figures: [
      ...(await failovers(world, { actionMs: 0, runs: 11, goOperator: "1,025 ms" })),
      ...(await failovers(world, { actionMs: 2000, runs: 5, goOperator: "2,032 ms" })),
    ],
  };
}

interface Case {
  readonly actionMs: number;
  readonly runs: number;
  /** From the pod that is unready to verified; the Go operator watches. */
  readonly goOperator: string;
}

async function failovers(world: World, { actionMs, runs, goOperator }: Case): Promise<readonly Figure[]> {
  const requested: number[] = [];
  const verified: number[] = [];
  const whole: number[] = [];
  await withScene(world, { nodes: 2, addresses: 1, actionMs }, async ({ cloud, run }) => {
    await run(["reconcile"]);
    for (let turn = 0; turn < runs; turn += 1) {
      // The address is on the first node before an even turn, on the second before an odd one.
      const [failing, other] = turn % 2 === 0 ? [1, 2] : [2, 1];
      await world.api.setNodeReady(nodeName(other), true);
      await world.api.setNodeReady(nodeName(failing), false);
      cloud.forgetCalls();
      const { startedAtMs, wallMs } = await run(["reconcile"]);
      const assigns = cloud.calls.filter(isAssignRequest);
      const proof = cloud.calls.at(-1);
      if (assigns.length !== 1 || proof?.method !== "GET") throw new Error("the address was not moved and read back");
      requested.push((assigns[0]?.atMs ?? Number.NaN) - startedAtMs);
      verified.push(proof.atMs - startedAtMs);
      whole.push(wallMs);
    }
  });
  const action = `provider action ${actionMs / 1000} s`;
  return [
    timeFigure(`${action}: process start → assign request`, requested, {
      goOperator: "4.4 ms (watching)",
    }),
    timeFigure(`${action}: process start → verified on the new node`, verified, { goOperator }),
    timeFigure(`${action}: whole run`, whole),
  ];
}
