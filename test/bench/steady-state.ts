import { callFigure, type Figure, timeFigure } from "./figure.ts";
import { isLeaseCall, isWrite } from "./kube-meter.ts";
import { withScene } from "./scene.ts";
import type { Section } from "./table.ts";
import type { World } from "./world.ts";

const SIZES: readonly number[] = [1, 3, 100, 450];
const RUNS = 3;

/** Everything is as it should be, and a run finds that out. */
export async function benchSteadyState(world: World): Promise<Section> {
  const provider: Figure[] = [];
  const cluster: Figure[] = [];
  for (const addresses of SIZES) {
    const passes = await idlePasses(world, addresses);
    const most = Math.ceil(addresses / 200) + 2;
    const goOperator = `${(addresses * 12).toLocaleString("en-US")} an hour`;
    const calls = passes.map((pass) => pass.providerCalls);
    provider.push(callFigure(`${many(addresses)}: provider calls per run`, calls, { most, goOperator }));
    if (addresses === SIZES.at(-1)) cluster.push(...clusterFigures(addresses, passes));
  }
  return {
    title: "Steady state: a run with nothing to do (a CronJob makes up to 60 an hour)",
    figures: [...provider, ...cluster],
  };
}

interface IdlePass {
  readonly providerCalls: number;
  readonly kubeCalls: number;
  readonly leaseCalls: number;
  readonly kubeWrites: number;
  readonly wallMs: number;
}

async function idlePasses(world: World, addresses: number): Promise<readonly IdlePass[]> {
  return await withScene(world, { nodes: addresses, addresses }, async ({ cloud, run }) => {
    await run(["reconcile"]);
    const passes: IdlePass[] = [];
    for (let pass = 0; pass < RUNS; pass += 1) {
      cloud.forgetCalls();
      world.meter.calls.length = 0;
      const { wallMs } = await run(["reconcile"], { isMetered: true });
      const { calls } = world.meter;
      passes.push({
        providerCalls: cloud.calls.length,
        kubeCalls: calls.length,
        leaseCalls: calls.filter(isLeaseCall).length,
        kubeWrites: calls.filter(isWrite).length,
        wallMs,
      });
    }
    return passes;
  });
}

function clusterFigures(addresses: number, passes: readonly IdlePass[]): readonly Figure[] {
  return [
    callFigure(
      `${many(addresses)}: Kubernetes writes per run, the Lease aside`,
      passes.map(({ kubeWrites }) => kubeWrites),
      { most: 0 },
    ),
    callFigure(
      `${many(addresses)}: Kubernetes calls per run`,
      passes.map(({ kubeCalls }) => kubeCalls),
    ),
    callFigure(
      `${many(addresses)}: Kubernetes calls per run, of these on the Lease`,
      passes.map(({ leaseCalls }) => leaseCalls),
    ),
    timeFigure(
      `${many(addresses)}: whole run (through the counting proxy)`,
      passes.map(({ wallMs }) => wallMs),
    ),
  ];
}

function many(addresses: number): string {
  return addresses === 1 ? "1 address" : `${addresses} addresses`;
}
