import { isIPv6 } from "node:net";
import type { IPFamily } from "../../src/model/address-source.ts";
import { ipv6NetworkOf } from "../../src/model/ipv6-network.ts";
import { hetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import { nodeBody } from "../cluster/objects.ts";
import { callFigure, type Figure } from "./figure.ts";
import { runProgram } from "./program.ts";
import { someIPs } from "./scene.ts";
import type { Section } from "./table.ts";
import { createNodes, createPool, emptyCluster, nodeName, type World } from "./world.ts";

const COUNTS = [3, 25, 100] as const;
const LOCATION = "fsn1";

/** Floating IPs of a project of Hetzner Cloud, of one family and of both on the same servers: put on nodes for the first time, moved, bought, and left alone. Only calls are counted. */
export async function benchHetzner(world: World): Promise<Section> {
  const figures: Figure[] = [];
  for (const families of [["IPv4"], ["IPv6"], ["IPv4", "IPv6"]] as const)
    for (const count of COUNTS) figures.push(...(await ofExisting(world, count, families)));
  figures.push(await ofBought(world, 25));
  return { title: "Hetzner Cloud: calls of a run", figures };
}

/** The list of a project shows both families, and is read for each. */
async function ofExisting(world: World, count: number, families: readonly IPFamily[]): Promise<readonly Figure[]> {
  const ips = families.flatMap((family) => someIPs(count, family));
  const specs = families.map((ipFamily) => ({ ipFamily, ips: someIPs(count, ipFamily), region: LOCATION }));
  return await withProject(world, { servers: count + 1, ips }, specs, async (calls) => {
    const fill = await calls();
    const idle = await calls();
    await world.api.setNodeReady(nodeName(1), false);
    const failover = await calls();
    const pages = Math.ceil(ips.length / 50);
    const each = families.length;
    const what = `${count} addresses${each === 2 ? " of each family" : families[0] === "IPv6" ? " of IPv6" : ""}`;
    return [
      // The list is read before, and after; and every 25 actions are asked for once.
      callFigure(`${what}, first fill`, [fill], { most: each * (count + 2 * pages + Math.ceil(count / 25) + 2) }),
      callFigure(`${what}, nothing to do`, [idle], { most: each * (pages + 1) }),
      callFigure(`${what}, one ${each === 2 ? "of each " : ""}moves`, [failover], { most: each * (pages + 6) }),
    ];
  });
}

async function ofBought(world: World, count: number): Promise<Figure> {
  const spec = { desiredIPs: count, region: LOCATION };
  return await withProject(world, { servers: count, ips: [] }, [spec], async (calls) => {
    const bought = await calls();
    // Twelve a minute are bought. The list is read before each of them.
    return callFigure(`${count} addresses are wanted, the first 12 bought`, [bought], { most: 12 * 5 + 3 });
  });
}

async function withProject<T>(
  { api, kubeconfig }: World,
  { servers, ips }: { readonly servers: number; readonly ips: readonly string[] },
  specs: readonly object[],
  work: (calls: () => Promise<number>) => Promise<T>,
): Promise<T> {
  await emptyCluster(api);
  await createNodes(api, {
    from: 1,
    to: servers,
    body: (id) => nodeBody({ name: nodeName(id), providerID: `hcloud://${id}`, region: LOCATION }),
  });
  for (const [at, spec] of specs.entries())
    await createPool(api, { provider: "hetzner", ...spec, match: {} }, at === 0 ? "web" : `web-${at}`);
  let calls = 0;
  const project = hetznerSandbox({
    now: () => Date.now(),
    onCall: () => {
      calls += 1;
    },
    state: {
      servers: Array.from({ length: servers }, (_, index) => ({ id: index + 1 })),
      // An IPv6 address of flipop stands for the whole network that is bought.
      floating_ips: ips.map((ip) => ({ ip: isIPv6(ip) ? ipv6NetworkOf(ip, 64) : ip })),
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
