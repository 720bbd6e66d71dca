import type { Cloud } from "./cloud.ts";
import { inParallel } from "./in-parallel.ts";
import { environmentOf, withScene } from "./scene.ts";
import { openWatcher, type Watcher } from "./watcher.ts";
import { nodeName, type World } from "./world.ts";

const NAMESPACE = "default";
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const APP = "bench-web";
const PARALLEL_CALLS = 8;
const ANNOTATION = "flipop.digitalocean.com/ipv4-reserved-ip";

/** A cluster with a ready pod on every node, and a pool of one address that follows those pods. */
export interface PodScene {
  readonly cloud: Cloud;
  /** Starts a process that watches; `environment` is added to what reaches cluster and account. */
  watch(how?: { readonly environment?: Readonly<Record<string, string>>; readonly interval?: string }): Watcher;
  /** The droplet that has the address. @throws Error when none has. */
  holder(): number;
  setReady(droplet: number, ready: boolean): Promise<unknown>;
  /** True once the node on the droplet carries the address as its annotation. */
  isAnnotated(droplet: number): Promise<boolean>;
}

/** Sets the scene up, lends it to the work, and takes its pods down again. */
export async function withPodScene<T>(
  world: World,
  { nodes, actionMs }: { readonly nodes: number; readonly actionMs: number },
  work: (scene: PodScene) => Promise<T>,
): Promise<T> {
  const { api } = world;
  const match = { podNamespace: NAMESPACE, podLabel: `app=${APP}` };
  return await withScene(world, { nodes, addresses: 1, actionMs, match }, async ({ cloud }) => {
    const droplets = Array.from({ length: nodes }, (_, index) => index + 1);
    await inParallel(droplets, PARALLEL_CALLS, async (droplet) => {
      await api.createPod({ ...podOn(droplet), nodeName: nodeName(droplet), labels: { app: APP } });
    });
    try {
      return await work({
        cloud,
        watch: ({ environment = {}, ...options } = {}) =>
          openWatcher({ ...environmentOf(world.kubeconfig, cloud), ...environment }, options),
        holder: () => {
          const [droplet] = cloud.holders();
          if (droplet === undefined) throw new Error("the address is on no droplet");
          return droplet;
        },
        setReady: (droplet, ready) => api.setPodReady({ ...podOn(droplet), ready }),
        isAnnotated: async (droplet) => {
          const { metadata } = await api.call("GET", `/api/v1/nodes/${nodeName(droplet)}`);
          return metadata.annotations?.[ANNOTATION] !== undefined;
        },
      });
    } finally {
      await api.call("DELETE", `${PODS}?gracePeriodSeconds=0`);
    }
  });
}

function podOn(droplet: number): { readonly namespace: string; readonly name: string } {
  return { namespace: NAMESPACE, name: `${APP}-${droplet}` };
}
