import type { IPFamily } from "../../src/model/address-source.ts";
import { nodeBody } from "../cluster/objects.ts";
import { type Cloud, openCloud, REGION } from "./cloud.ts";
import type { Container } from "./container.ts";
import { type ProgramRun, runCommand, runProgram } from "./program.ts";
import { createNodes, createPool, emptyCluster, nodeName, type World } from "./world.ts";

/** A cluster and an account with nothing in them but one pool and what it needs. */
export interface Scene {
  readonly cloud: Cloud;
  /** Runs flipop on them. */
  run(args: readonly string[], how?: RunOptions): Promise<ProgramRun>;
}

/** How a run differs from the usual one. */
export interface RunOptions {
  /** Through the counting proxy. */
  readonly isMetered?: boolean;
  /** As from a read-only file system that holds no compile cache. */
  readonly isUncached?: boolean;
  /** As this container, whatever the arguments say. */
  readonly container?: Container;
}

/** How big a scene is. */
export interface SceneOptions {
  /** Ready nodes that match. */
  readonly nodes: number;
  /** Unattached addresses of each family, all of its pool. */
  readonly addresses: number;
  /** A pool for each. Default: IPv4. */
  readonly families?: readonly IPFamily[];
  readonly actionMs?: number;
  /** `spec.match` of the pool; without it every ready node matches. */
  readonly match?: Readonly<Record<string, string>>;
}

/** Empties the cluster, sets a scene up, lends it to the work and takes its account down again. */
export async function withScene<T>(
  world: World,
  { nodes, addresses, families = ["IPv4"], actionMs = 0, match = {} }: SceneOptions,
  work: (scene: Scene) => Promise<T>,
): Promise<T> {
  const { api } = world;
  const ips = families.flatMap((family) => someIPs(addresses, family));
  await emptyCluster(api);
  await createNodes(api, { from: 1, to: nodes, body: (droplet) => nodeBody(nodeOptions(droplet)) });
  for (const ipFamily of families) {
    const spec = { provider: "digitalocean", region: REGION, match, ipFamily, ips: someIPs(addresses, ipFamily) };
    await createPool(api, spec, poolName(ipFamily));
  }
  const cloud = await openCloud({ droplets: nodes, ips, actionMs });
  try {
    return await work({ cloud, run: (args, how) => runOn(world, cloud, args, how) });
  } finally {
    await cloud.close();
  }
}

/** The pool of each family. */
function poolName(family: IPFamily): string {
  return family === "IPv4" ? "web" : "web-ipv6";
}

/** Runs flipop on a world and an account. */
export async function runOn(
  world: World,
  cloud: Cloud,
  args: readonly string[],
  { isMetered = false, isUncached = false, container }: RunOptions = {},
): Promise<ProgramRun> {
  const environment = {
    ...environmentOf(isMetered ? world.meteredKubeconfig : world.kubeconfig, cloud),
    ...(isUncached ? { NODE_DISABLE_COMPILE_CACHE: "1" } : {}),
  };
  if (container === undefined) return await runProgram(args, environment);
  return await runCommand(container.command, { ...environment, ...container.environment });
}

/** What flipop's environment says of a cluster and an account. */
export function environmentOf(kubeconfig: string, cloud: Cloud): Readonly<Record<string, string>> {
  return { KUBECONFIG: kubeconfig, DIGITALOCEAN_API_URL: cloud.url, DIGITALOCEAN_ACCESS_TOKEN: "sandbox" };
}

/** Different addresses of a benchmark range; of IPv6 each in a network of its own. */
export function someIPs(count: number, family: IPFamily = "IPv4"): readonly string[] {
  const of = (index: number): string =>
    family === "IPv4" ? `198.19.${index >> 8}.${index & 255}` : `2001:db8:${(index + 1).toString(16)}::1`;
  return Array.from({ length: count }, (_, index) => of(index));
}

function nodeOptions(droplet: number): Parameters<typeof nodeBody>[0] {
  const addresses = [{ type: "InternalIP", address: `10.10.${droplet >> 8}.${droplet & 255}` }];
  return { name: nodeName(droplet), providerID: `digitalocean://${droplet}`, region: REGION, addresses };
}
