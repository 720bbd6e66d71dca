import { setTimeout } from "node:timers/promises";
import { nodeReadyCondition, now } from "../cluster/objects.ts";
import type { Cloud } from "./cloud.ts";
import type { Container } from "./container.ts";
import { type Beside, type Figure, memoryFigure, shareFigure, timeFigure } from "./figure.ts";
import { environmentOf } from "./scene.ts";
import { openWatcher, type Watcher } from "./watcher.ts";
import { nodeName, type World } from "./world.ts";

const RUNS = 3;
/** A node whose status does not change reports it every five minutes (kubelet's `nodeStatusReportFrequency`). */
const HEARTBEAT_MS = 300_000;
/** One whole interval: with the pass that is made then. */
const IDLE_MS = 60_000;
/** Node compiles what reads a report once it has seen many: a process that watches for weeks is not judged by its first minutes. */
const MINUTES = { before: 2, measured: 3 } as const;
/** What is left of the start, code that is compiled and memory that is given back, is over, milliseconds. */
const SETTLE_MS = 20_000;

/** What one process that watches a big cluster needed. */
export interface WatchSamples {
  readonly syncedMs: readonly number[];
  readonly peakMB: readonly number[];
  /** Part of one core, while nothing but heartbeats happens; one for each minute. */
  readonly idleShare: readonly number[];
}

/** Starts a process several times. With a number of nodes these report in the last one that all is well, for minutes and as often as they do. */
export async function watchAWhile(
  world: World,
  cloud: Cloud,
  container: Container,
  nodes?: number,
): Promise<WatchSamples> {
  const samples = { syncedMs: [] as number[], peakMB: [] as number[], idleShare: [] as number[] };
  for (let run = 1; run <= RUNS; run += 1) {
    const environment = { ...environmentOf(world.kubeconfig, cloud), ...container.environment };
    const watcher = openWatcher(environment, { command: container.command.slice(0, 2), interval: "1m" });
    try {
      await watcher.synced();
      samples.syncedMs.push(performance.now() - watcher.startedAtMs);
      await watcher.atWork();
      await setTimeout(SETTLE_MS);
      if (run === RUNS && nodes !== undefined) samples.idleShare.push(...(await idleShare(world, watcher, nodes)));
      samples.peakMB.push(...[watcher.peakMB() ?? []].flat());
    } finally {
      await watcher.stop("SIGTERM");
    }
  }
  return samples;
}

/** The figures of one size and selector. */
export function watchFigures(what: string, samples: WatchSamples, memory: Beside): readonly Figure[] {
  return [
    timeFigure(`${what}: start → synced`, samples.syncedMs),
    ...(samples.peakMB.length === 0 ? [] : [memoryFigure(`${what}: peak memory`, samples.peakMB, memory)]),
    ...(samples.idleShare.length === 0
      ? []
      : [shareFigure(`${what}: processor while nodes only report`, samples.idleShare, { wanted: "< 1 %" })]),
  ];
}

/** One part of a core for each minute that is measured. */
async function idleShare(world: World, watcher: Watcher, nodes: number): Promise<readonly number[]> {
  const shares: (number | undefined)[] = [];
  for (let minute = 0; minute < MINUTES.before + MINUTES.measured; minute += 1)
    shares.push(await minuteShare(world, watcher, nodes));
  return shares.slice(MINUTES.before).filter((share) => share !== undefined);
}

async function minuteShare({ api }: World, watcher: Watcher, nodes: number): Promise<number | undefined> {
  const before = watcher.cpuMs();
  const startedAtMs = performance.now();
  const pauseMs = HEARTBEAT_MS / nodes;
  for (let beat = 0; beat * pauseMs < IDLE_MS; beat += 1) {
    await setTimeout(Math.max(0, startedAtMs + beat * pauseMs - performance.now()));
    const { lastTransitionTime: _same, ...condition } = nodeReadyCondition(true, now());
    const path = `/api/v1/nodes/${nodeName(1 + (beat % nodes))}/status`;
    await api.call("PATCH", path, { status: { conditions: [condition] } }, "application/strategic-merge-patch+json");
  }
  const after = watcher.cpuMs();
  if (before === undefined || after === undefined) return undefined;
  return (after - before) / (performance.now() - startedAtMs);
}
