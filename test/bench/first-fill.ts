import type { IPFamily } from "../../src/model/address-source.ts";
import { isAssignRequest } from "./cloud.ts";
import { callFigure, type Figure, timeFigure } from "./figure.ts";
import { withScene } from "./scene.ts";
import type { Section } from "./table.ts";
import type { World } from "./world.ts";

const FILLS = [
  { addresses: 3, runs: 3, most: 6, goOperator: "12" },
  { addresses: 25, runs: 3, most: 30, goOperator: "100" },
  { addresses: 100, runs: 5, most: 110, goOperator: "400" },
] as const;

/** A pool's existing addresses are put on nodes for the first time; then also those of IPv6, alone and beside the others on the same nodes. */
export async function benchFirstFill(world: World): Promise<Section> {
  const calls: Figure[] = [];
  const times: Figure[] = [];
  for (const { addresses, runs, most, goOperator } of FILLS) {
    const samples = [];
    for (let run = 0; run < runs; run += 1) samples.push(await fill(world, addresses));
    const count = samples.map((sample) => sample.calls);
    calls.push(callFigure(`${addresses} addresses: provider calls`, count, { most, goOperator }));
    if (addresses < 100) continue;
    const assigned = samples.map(({ assignedMs }) => assignedMs);
    const whole = samples.map(({ wallMs }) => wallMs);
    times.push(
      timeFigure("100 addresses: process start → last assign request", assigned),
      timeFigure("100 addresses: whole run, verified, annotated, status written", whole, {
        wanted: "≤ 3 s",
        goOperator: "18 s until assigned",
      }),
    );
  }
  for (const { addresses, most } of FILLS) {
    const alone = await fill(world, addresses, ["IPv6"]);
    const both = await fill(world, addresses, ["IPv4", "IPv6"]);
    calls.push(
      callFigure(`${addresses} addresses of IPv6: provider calls`, [alone.calls], { most }),
      // One that had to wait for the other address of its node for long is read once more.
      callFigure(`${addresses} of each family: provider calls`, [both.calls], { most: 2 * most + addresses }),
    );
  }
  return { title: "First fill of one pool", figures: [...calls, ...times] };
}

interface Fill {
  readonly calls: number;
  readonly assignedMs: number;
  readonly wallMs: number;
}

async function fill(world: World, addresses: number, families: readonly IPFamily[] = ["IPv4"]): Promise<Fill> {
  return await withScene(world, { nodes: addresses, addresses, families }, async ({ cloud, run }) => {
    const { startedAtMs, wallMs } = await run(["reconcile"]);
    const assigns = cloud.calls.filter(isAssignRequest);
    const wanted = addresses * families.length;
    if (assigns.length !== wanted) throw new Error(`${assigns.length} instead of ${wanted} assignments were asked for`);
    return { calls: cloud.calls.length, assignedMs: (assigns.at(-1)?.atMs ?? Number.NaN) - startedAtMs, wallMs };
  });
}
