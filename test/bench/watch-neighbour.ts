import { createServer } from "node:net";
import { setTimeout } from "node:timers/promises";
import { isAssignRequest } from "./cloud.ts";
import { openCloudflare, ZONE } from "./dns-zone.ts";
import { callFigure, type Figure, timeFigure } from "./figure.ts";
import { median, type Samples } from "./samples.ts";
import { until } from "./until.ts";
import { type PodScene, withPodScene } from "./watch-scene.ts";
import { addToPool, createRecordSets, type World } from "./world.ts";

const NODES = 10;
const RUNS = 11;
/** A pass after a failover writes status; the next failure comes when that is done, milliseconds. */
const REST_MS = 500;
/** Four pod changes a second, for so long, milliseconds. */
const PERIOD_MS = 250;
const CHURN_MS = 60_000;
/** Calls a minute that a standing fault may add, and those of a look at everything. */
const MOST_CALLS = 12;
/** Nobody has it: it belongs to a range for documentation (RFC 5737). */
const MISTYPED = "192.0.2.254";

/** What something that hangs, or stays wrong, costs a process that watches. */
export async function neighbours(world: World): Promise<readonly Figure[]> {
  const zone = await openCloudflare();
  const alone = await failovers(world, zone.environment).finally(() => zone.close());
  const hanging = await hangingServer();
  const environment = { ...zone.environment, CLOUDFLARE_API_URL: hanging.url };
  const beside = await failovers(world, environment).finally(() => hanging.close());
  return [
    timeFigure("beside a name at Cloudflare: pod unready → assign request", alone),
    timeFigure("the same while Cloudflare accepts connections and never answers", beside, {
      wanted: `≤ ${(2 * median(alone)).toFixed(1)} ms`,
    }),
    await churn(world),
  ];
}

/** Pods under the address fail, one after the other; milliseconds until the provider is asked. */
async function failovers(world: World, environment: Readonly<Record<string, string>>): Promise<Samples> {
  return await withPodScene(world, { nodes: NODES, actionMs: 0 }, async (scene) => {
    const dnsRecordSet = { zone: ZONE, recordName: "www", ttl: 60 };
    await createRecordSets(world.api, [{ name: "www", spec: { provider: "cloudflare", dnsRecordSet } }]);
    const watcher = scene.watch({ environment, interval: "10s" });
    try {
      await until(() => scene.cloud.holders()[0], "an address on a droplet");
      const times: number[] = [];
      for (let run = 0; run <= RUNS; run += 1) times.push(await failover(scene));
      // Code that has never run is compiled first.
      return times.slice(1);
    } finally {
      await watcher.stop("SIGTERM");
    }
  });
}

async function failover({ cloud, holder, setReady }: PodScene): Promise<number> {
  await setTimeout(REST_MS);
  const failing = holder();
  cloud.forgetCalls();
  await setReady(failing, false);
  const startedAtMs = performance.now();
  const { atMs } = await until(() => cloud.calls.find(isAssignRequest), "an assign request");
  await until(() => (holder() === failing ? undefined : holder()), "another node");
  await setReady(failing, true);
  return atMs - startedAtMs;
}

/** A pod that decides nothing flaps beside a pool with a mistyped address. */
async function churn(world: World): Promise<Figure> {
  const calls = await withPodScene(world, { nodes: NODES, actionMs: 0 }, async (scene) => {
    await addToPool(world.api, MISTYPED);
    const watcher = scene.watch();
    try {
      await watcher.atWork();
      await until(() => scene.cloud.holders()[0], "an address on a droplet");
      await setTimeout(REST_MS);
      const flapping = scene.holder() === NODES ? NODES - 1 : NODES;
      scene.cloud.forgetCalls();
      for (let at = 0; at < CHURN_MS / PERIOD_MS; at += 1) {
        await Promise.all([scene.setReady(flapping, at % 2 === 1), setTimeout(PERIOD_MS)]);
      }
      return scene.cloud.calls.length;
    } finally {
      await watcher.stop("SIGTERM");
    }
  });
  const what = "four pod changes a second beside a mistyped address in ips: provider calls a minute";
  return callFigure(what, [calls], { most: MOST_CALLS });
}

interface HangingServer {
  readonly url: string;
  close(): void;
}

/** Accepts every connection and never says anything. */
async function hangingServer(): Promise<HangingServer> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
