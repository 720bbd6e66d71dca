import { setImmediate } from "node:timers/promises";
import { ConfigError } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import type { Selection } from "../model/run.ts";
import type { Simulation } from "../model/simulation.ts";
import { Interrupted, untilInterrupted } from "../observe/interrupt.ts";
import { ASSUMED } from "../rehearse/forward.ts";
import { simulateLosses } from "../rehearse/losses.ts";
import { drainOf, rollingUpgradeOf, type ScenarioTimes } from "../rehearse/scenarios.ts";
import { type Rehearsed, type Scenario, simulate } from "../rehearse/simulate.ts";
import { exitCodeOfSimulation } from "../report/exit-code.ts";
import { simulationDocument } from "../report/json/simulation.ts";
import { renderSimulation } from "../report/text/simulation.ts";
import { resolveConfig } from "./config.ts";
import { type Imagined, readImagined, warnOfIgnored } from "./imagined.ts";
import { writeLine, writeResult } from "./output.ts";
import { resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import { checkScenario, paceOf, type SimulateFlags } from "./simulate-flags.ts";
import type { Planner } from "./wiring.ts";

/** Runs `simulate`: reads once, and tells what flipop does from then on. Never writes. Returns the exit code. */
export async function runSimulate(session: Session, flags: SimulateFlags): Promise<number> {
  checkScenario(flags);
  const imagined = await readImagined(flags, session.signal);
  const { withPlanner } = await session.loadWiring();
  const told = await withPlanner(
    resolveConfig(flags, session.env, session),
    async (planner) => {
      const { observation, selection } = await untilInterrupted(readWorld(planner, flags, imagined), session.signal);
      return rehearsed(session, observation, selection, flags);
    },
    imagined?.objects,
  );
  warnOfIgnored(session, imagined);
  const mostOutageMs = flags.expect?.mostOutageMs;
  const layout = { ...session.layout, mostOutageMs, ...(imagined === undefined ? {} : { edits: imagined.told }) };
  await writeResult(session, session.output, {
    document: () => simulationDocument(told, imagined?.told, mostOutageMs),
    names: () => [],
    text: () => renderSimulation(told, layout),
  });
  return exitCodeOfSimulation(told, { detailed: flags.detailedExitcode ?? false, mostOutageMs });
}

async function readWorld(
  { cluster, plan }: Planner,
  flags: SimulateFlags,
  imagined: Imagined | undefined,
): Promise<{ readonly observation: Observation; readonly selection: Selection }> {
  const selection = await resolveSelection([], flags, cluster);
  const { observation } = await plan(selection, imagined === undefined ? {} : { edited: imagined.edited });
  return { observation, selection };
}

async function rehearsed(
  session: Session,
  observation: Observation,
  selection: Selection,
  flags: SimulateFlags,
): Promise<Simulation> {
  const terms: Rehearsed = { horizonMs: flags.horizon, assumed: flags.assume ?? ASSUMED };
  if (flags.n1 === undefined) {
    const scenario = scenarioOf(observation, flags);
    return simulate(observation, selection, { ...terms, ...(scenario === undefined ? {} : { scenario }) });
  }
  const by = flags.n1 === true ? "node" : flags.n1;
  return await inTurn(session, simulateLosses(observation, selection, { ...terms, by }));
}

const NODE_READY_MS = 120_000;
const DRAIN_MS = 30_000;

function scenarioOf(observation: Observation, flags: SimulateFlags): Scenario | undefined {
  const { drain, rollingUpgrade, nodeReady, drainTime, from } = flags;
  const times: ScenarioTimes = { nodeReadyMs: nodeReady ?? NODE_READY_MS, drainMs: drainTime ?? DRAIN_MS };
  if (drain !== undefined) return drainOf(observation, drain.replace(/^node\//, ""), times);
  if (rollingUpgrade === undefined) return undefined;
  try {
    return rollingUpgradeOf(observation, rollingUpgrade, paceOf(flags), times);
  } catch (error) {
    if (from === undefined || !(error instanceof ConfigError) || error.kind !== "invalid") throw error;
    const hint =
      "Of nodes a snapshot holds the labels that objects select by, and those of places; more with --node-labels KEY.";
    throw new ConfigError("invalid", `${error.message} ${hint}`, { cause: error });
  }
}

/** Whoever waits is told after the first time, and then again each time the second one is over; milliseconds. */
const FIRST_TOLD_MS = 1000;
const TOLD_AGAIN_MS = 5000;

/** Rehearses one loss after the other; a signal ends it between two of them. On stderr says how far it is, where it takes long. */
async function inTurn(session: Session, losses: ReturnType<typeof simulateLosses>): Promise<Simulation> {
  const { clock } = await session.loadWiring();
  let tellAtMs = clock.monotonicMs() + FIRST_TOLD_MS;
  for (;;) {
    const next = losses.next();
    if (next.done === true) return next.value;
    await setImmediate();
    if (session.signal.aborted) throw new Interrupted();
    if (clock.monotonicMs() < tellAtMs) continue;
    tellAtMs = clock.monotonicMs() + TOLD_AGAIN_MS;
    if (session.lines.format === "text")
      writeLine(session, "info", `${next.value.done} of ${next.value.of} losses rehearsed`);
  }
}
