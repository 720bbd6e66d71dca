import { setTimeout } from "node:timers/promises";
import { nodeBody } from "../cluster/objects.ts";
import { DNS_ZONES, type DNSZone, ZONE } from "./dns-zone.ts";
import { callFigure, type Figure } from "./figure.ts";
import { until } from "./until.ts";
import { openWatcher } from "./watcher.ts";
import { createNodes, createRecordSets, emptyCluster, nodeName, type World } from "./world.ts";

const NODES = 100;
const FLAPPING = 50;
const WITHIN_MS = 5000;
const RUNS = 3;
const NAME = "nodes";

interface Bounds {
  readonly provider: string;
  readonly reads: number;
  readonly writes: number;
  readonly goOperator: string;
}

const BOUNDS: readonly Bounds[] = [
  { provider: "digitalocean", reads: 2, writes: 50, goOperator: "50 listings + 50 writes" },
  { provider: "cloudflare", reads: 2, writes: 1, goOperator: "50 listings + 50 writes" },
];

/** Half of the nodes of one name leave within five seconds, and come back within five. */
export async function flapping(world: World): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { provider, reads, writes, goOperator } of BOUNDS) {
    const waves = await wavesAt(world, provider);
    for (const [index, way] of (["leave", "join"] as const).entries()) {
      const own = waves.filter((_, at) => at % 2 === index);
      const what = `${FLAPPING} of ${NODES} nodes ${way} a name at ${provider} within 5 s`;
      figures.push(
        callFigure(
          `${what}: reads`,
          own.map((wave) => wave.reads),
          { most: reads, goOperator },
        ),
        callFigure(
          `${what}: writes`,
          own.map((wave) => wave.writes),
          { most: writes },
        ),
      );
    }
  }
  return figures;
}

interface Wave {
  readonly reads: number;
  readonly writes: number;
}

/** Waves of nodes that leave and join, in turn. */
async function wavesAt(world: World, provider: string): Promise<readonly Wave[]> {
  const { api } = world;
  await emptyCluster(api);
  await createNodes(api, { from: 1, to: NODES, body: nodeOf });
  const spec = { provider, addressType: "ExternalIP", dnsRecordSet: { zone: ZONE, recordName: NAME, ttl: 60 } };
  await createRecordSets(api, [{ name: NAME, spec }]);
  const zone = await openZone(provider);
  const others = zone.records().size;
  const watcher = openWatcher({ KUBECONFIG: world.kubeconfig, ...zone.environment });
  const waves: Wave[] = [];
  try {
    await until(() => zone.records().size === others + NODES || undefined, "the first records");
    for (let wave = 0; wave < 2 * RUNS; wave += 1) {
      const isLeaving = wave % 2 === 0;
      // Status is written, and no change of before is still on its way.
      await setTimeout(WITHIN_MS);
      zone.forgetCalls();
      await flap(world, !isLeaving);
      const size = others + (isLeaving ? NODES - FLAPPING : NODES);
      await until(() => zone.records().size === size || undefined, `${size} records`);
      const reads = zone.calls.filter(({ method }) => method === "GET").length;
      waves.push({ reads, writes: zone.calls.length - reads });
    }
  } finally {
    await watcher.stop("SIGTERM");
    await zone.close();
  }
  return waves;
}

/** One node after the other, evenly over the five seconds. */
async function flap({ api }: World, isReady: boolean): Promise<void> {
  const startedAtMs = performance.now();
  for (let droplet = 1; droplet <= FLAPPING; droplet += 1) {
    await setTimeout(Math.max(0, startedAtMs + (droplet - 1) * (WITHIN_MS / FLAPPING) - performance.now()));
    await api.setNodeReady(nodeName(droplet), isReady);
  }
}

async function openZone(provider: string): Promise<DNSZone> {
  const open = DNS_ZONES[provider];
  if (open === undefined) throw new Error(`no emulated DNS provider ${provider}`);
  return await open();
}

function nodeOf(droplet: number): ReturnType<typeof nodeBody> {
  return nodeBody({
    name: nodeName(droplet),
    providerID: `digitalocean://${droplet}`,
    addresses: [{ type: "ExternalIP", address: `198.18.0.${droplet}` }],
  });
}
