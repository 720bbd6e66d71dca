import { setTimeout } from "node:timers/promises";
import { isAssignRequest } from "./cloud.ts";
import { callFigure, type Figure, timeFigure } from "./figure.ts";
import { until } from "./until.ts";
import { type PodScene, withPodScene } from "./watch-scene.ts";
import type { World } from "./world.ts";

/** A pass after a failover writes status; the next failure comes when that is done, milliseconds. */
const REST_MS = 150;
/** The precondition, the assignment, and the address as it then is. */
const CALLS = 3;

/** One size of cluster and speed of the provider. */
export interface ReactionCase {
  readonly nodes: number;
  readonly actionMs: number;
  readonly runs: number;
  readonly wantedAssign?: string;
  readonly wantedVerified?: string;
  readonly goAssign?: string;
  readonly goVerified?: string;
}

/** The pod under an address stops being ready while a process watches: how long until the provider is asked, and until the address was seen on the next node. */
export async function reactions(world: World, wanted: ReactionCase): Promise<readonly Figure[]> {
  const { nodes, actionMs, runs } = wanted;
  const turns = await withPodScene(world, { nodes, actionMs }, async (scene) => {
    const watcher = scene.watch();
    try {
      await watcher.atWork();
      const taken: Turn[] = [];
      for (let turn = 0; turn <= runs; turn += 1) taken.push(await failover(scene));
      // Code that has never run is compiled first.
      return taken.slice(1);
    } finally {
      await watcher.stop("SIGTERM");
    }
  });
  const where = `${nodes.toLocaleString("en-US")} nodes, provider action ${actionMs / 1000} s`;
  const beside = (wants?: string, go?: string): { wanted?: string; goOperator?: string } => ({
    ...(wants === undefined ? {} : { wanted: wants }),
    ...(go === undefined ? {} : { goOperator: go }),
  });
  return [
    timeFigure(
      `${where}: pod unready → assign request`,
      turns.map(({ assignMs }) => assignMs),
      beside(wanted.wantedAssign, wanted.goAssign),
    ),
    timeFigure(
      `${where}: pod unready → verified on the new node`,
      turns.map(({ verifiedMs }) => verifiedMs),
      beside(wanted.wantedVerified, wanted.goVerified),
    ),
    ...(actionMs > 0
      ? []
      : [
          callFigure(
            `${where}: provider calls per failover`,
            turns.map(({ calls }) => calls),
            { most: CALLS },
          ),
        ]),
  ];
}

interface Turn {
  readonly assignMs: number;
  readonly verifiedMs: number;
  readonly calls: number;
}

/** From when the API server has stored the change, and says so. */
async function failover({ cloud, holder, setReady, isAnnotated }: PodScene): Promise<Turn> {
  await setTimeout(REST_MS);
  const failing = holder();
  cloud.forgetCalls();
  await setReady(failing, false);
  const startedAtMs = performance.now();
  const assign = await until(() => cloud.calls.find(isAssignRequest), "an assign request");
  const next = await until(() => (holder() === failing ? undefined : holder()), "another node");
  await until(async () => (await isAnnotated(next)) || undefined, "the annotation");
  const proof = cloud.calls.findLast(({ method }) => method === "GET");
  if (proof === undefined || proof.atMs < assign.atMs) throw new Error("the address was not read back");
  const turn = {
    assignMs: assign.atMs - startedAtMs,
    verifiedMs: proof.atMs - startedAtMs,
    calls: cloud.calls.length,
  };
  await setReady(failing, true);
  return turn;
}
