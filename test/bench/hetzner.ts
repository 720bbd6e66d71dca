import { hetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import { nodeBody } from "../cluster/objects.ts";
import { callFigure, type Figure } from "./figure.ts";
import { runProgram } from "./program.ts";
import { someIPs } from "./scene.ts";
import type { Section } from "./table.ts";
import { createNodes, createPool, emptyCluster, nodeName, type World } from "./world.ts";

const COUNTS = [3, 25, 100] as const;
const LOCATION = "fsn1";

/** Floating IPs of a project of Hetzner Cloud: put on nodes for the first time, moved, bought, and left alone. Only calls are counted. */
export async function benchHetzner(world: World): Promise<Section> {
  const figures: Figure[] = [];
  for (const count of COUNTS) figures.push(...(await ofExisting(world, count)));
  figures.push(await ofBought(world, 25));
  return { title: "Hetzner Cloud: calls of a run", figures };
}

async function ofExisting(world: World, count: number): Promise<readonly Figure[]> {
  const ips = someIPs(count);
  return await withProject(world, { servers: count + 1, ips }, { ips, region: LOCATION }, async (calls) => {
    const fill = await calls();
    const idle = await calls();
    await world.api.setNodeReady(nodeName(1), false);
    const failover = await calls();
    const pages = Math.ceil(count / 50);
    return [
      // The list is read before, and after; and every 25 actions are asked for once.
      callFigure(`${count} addresses, first fill`, [fill], { most: count + 2 * pages + Math.ceil(count / 25) + 2 }),
      callFigure(`${count} addresses, nothing to do`, [idle], { most: pages + 1 }),
      callFigure(`${count} addresses, one moves`, [failover], { most: pages + 6 }),
    ];
  });
}

async function ofBought(world: World, count: number): Promise<Figure> {
  const spec = { desiredIPs: count, region: LOCATION };
  return await withProject(world, { servers: count, ips: [] }, spec, async (calls) => {
    const bought = await calls();
    // Twelve a minute are bought. The list is read before each of them.
    return callFigure(`${count} addresses are wanted, the first 12 bought`, [bought], { most: 12 * 5 + 3 });
  });
}

async function withProject<T>(
  { api, kubeconfig }: World,
  { servers, ips }: { readonly servers: number; readonly ips: readonly string[] },
  spec: object,
  work: (calls: () => Promise<number>) => Promise<T>,
): Promise<T> {
  await emptyCluster(api);
  await createNodes(api, {
    from: 1,
    to: servers,
    body: (id) => nodeBody({ name: nodeName(id), providerID: `hcloud://${id}`, region: LOCATION }),
  });
  await createPool(api, { provider: "hetzner", ...spec, match: {} });
  let calls = 0;
  const project = hetznerSandbox({
    now: () => Date.now(),
    onCall: () => {
      calls += 1;
    },
    state: {
      servers: Array.from({ length: servers }, (_, index) => ({ id: index + 1 })),
      floating_ips: ips.map((ip) => ({ ip })),
      settings: { rate_limit: 1_000_000, floating_ip_limit: 1000 },
    },
  });
  const { url, close } = await project.serve();
  try {
    return await work(async () => {
      calls = 0;
      await runProgram(["reconcile"], { KUBECONFIG: kubeconfig, HCLOUD_API_URL: `${url}/v1`, HCLOUD_TOKEN: "sandbox" });
      return calls;
    });
  } finally {
    await close();
  }
}
