import { setTimeout } from "node:timers/promises";
import { nodeReadyCondition, now } from "../cluster/objects.ts";
import { type Cloud, isAssignRequest } from "./cloud.ts";
import type { Container } from "./container.ts";
import { type Beside, type Figure, memoryFigure, shareFigure, timeFigure } from "./figure.ts";
import { environmentOf } from "./scene.ts";
import { until } from "./until.ts";
import { openWatcher, type Watcher } from "./watcher.ts";
import { nodeName, type World } from "./world.ts";

const RUNS = 3;
/** A node whose status does not change reports it every five minutes (kubelet's `nodeStatusReportFrequency`). */
const HEARTBEAT_MS = 300_000;
/** One whole interval: with the pass that is made then. */
const IDLE_MS = 60_000;
/** Node compiles what reads a report once it has seen many: a process that watches for weeks is not judged by its first minutes. */
const MINUTES = { before: 2, measured: 3 } as const;
/** A pass after a failure writes status; the next failure comes when that is done, milliseconds. */
const REST_MS = 5000;
/** What is left of the start, code that is compiled and memory that is given back, is over, milliseconds. */
const SETTLE_MS = 20_000;

/** What one process that watches a big cluster needed. */
export interface WatchSamples {
  readonly syncedMs: readonly number[];
  readonly peakMB: readonly number[];
  /** Part of one core, while nothing but heartbeats happens; one for each minute. */
  readonly idleShare: readonly number[];
  /** From when the API server has stored that a node failed, to the assign request. */
  readonly assignMs: readonly number[];
}

/** What happens in the last process. */
export interface WatchEvents {
  /** So many nodes report that all is well, for minutes and as often as they do. */
  readonly reports?: number;
  /** So many times the node of an address fails. */
  readonly failures?: number;
}

/** Starts a process several times. */
export async function watchAWhile(
  world: World,
  cloud: Cloud,
  container: Container,
  { reports, failures = 0 }: WatchEvents = {},
): Promise<WatchSamples> {
  const samples: Record<keyof WatchSamples, number[]> = { syncedMs: [], peakMB: [], idleShare: [], assignMs: [] };
  for (let run = 1; run <= RUNS; run += 1) {
    const environment = { ...environmentOf(world.kubeconfig, cloud), ...container.environment };
    const watcher = openWatcher(environment, { command: container.command.slice(0, 2), interval: "1m" });
    try {
      await watcher.synced();
      samples.syncedMs.push(performance.now() - watcher.startedAtMs);
      await watcher.atWork();
      await setTimeout(SETTLE_MS);
      if (run === RUNS && reports !== undefined) samples.idleShare.push(...(await idleShare(world, watcher, reports)));
      for (let turn = 0; run === RUNS && turn < failures; turn += 1) samples.assignMs.push(await failure(world, cloud));
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
    ...(samples.assignMs.length === 0
      ? []
      : [timeFigure(`${what}: node not ready → assign request`, samples.assignMs, { wanted: "≤ 25 ms" })]),
  ];
}

/** A node that has an address is not ready; it is again when another one has the address. Returns how long the request took to come, milliseconds. */
async function failure({ api }: World, cloud: Cloud): Promise<number> {
  const [failing] = cloud.holders();
  if (failing === undefined) throw new Error("no node has an address");
  cloud.forgetCalls();
  await api.setNodeReady(nodeName(failing), false);
  const startedAtMs = performance.now();
  const { atMs } = await until(() => cloud.calls.find(isAssignRequest), "an assign request");
  await until(() => (cloud.holders().includes(failing) ? undefined : true), "another node");
  await api.setNodeReady(nodeName(failing), true);
  await setTimeout(REST_MS);
  return atMs - startedAtMs;
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
