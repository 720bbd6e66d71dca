import {
  type LossCase,
  type NameFate,
  outagesBeyond,
  type SimulatedStep,
  type Simulation,
} from "../../model/simulation.ts";
import { plain } from "../../model/text.ts";
import type { EditsTold } from "../text/plan-entries.ts";
import { rfc3339 } from "../text/times.ts";
import { API_VERSION, type JSONObject } from "./document.ts";
import { actionField, gapField, holdField, objectField } from "./plan.ts";

/**
 * Returns the document `Simulation`; its JSON Schema is `schema/simulation.json`.
 *
 * @param told - how the world differs from the one that was read; undefined = it does not
 * @param mostOutageMs - the longest outage that is expected; undefined where nothing is
 */
export function simulationDocument(
  simulation: Simulation,
  told: EditsTold | undefined,
  mostOutageMs: number | undefined,
): JSONObject {
  const { observedAtMs, cluster, assumed, scenario, steps, endsAtMs, isCutOff, names, moves, calls, spares, gaps } =
    simulation;
  const { nodeReadyMs, drainMs, goneAfterMs } = assumed;
  return {
    apiVersion: API_VERSION,
    kind: "Simulation",
    observedAt: rfc3339(observedAtMs),
    cluster,
    edits: [...(told?.edits ?? [])],
    files: [...(told?.files ?? [])],
    scenario: scenario === undefined ? null : plain(scenario),
    assumptions: {
      horizonSeconds: assumed.horizonMs / 1000,
      assignSeconds: assumed.assignMs / 1000,
      dnsSeconds: assumed.dnsMs / 1000,
      ...(nodeReadyMs === undefined ? {} : { nodeReadySeconds: nodeReadyMs / 1000 }),
      ...(drainMs === undefined ? {} : { drainSeconds: drainMs / 1000 }),
      ...(goneAfterMs === undefined ? {} : { goneAfterSeconds: goneAfterMs / 1000 }),
    },
    steps: steps.map((step) => stepField(step, observedAtMs)),
    endsAfterSeconds: secondsOf(endsAtMs - observedAtMs),
    atRest: !isCutOff,
    names: names.map(nameField),
    moves: { made: moves.made, needed: moves.needed, again: moves.again.map(({ ip, nodes }) => ({ ip, nodes })) },
    calls: calls.map(({ provider, calls: count, perMinutePeak, limit }) => ({
      provider,
      calls: count,
      perMinutePeak,
      limit: limit === undefined ? null : { calls: limit.calls, seconds: limit.ms / 1000 },
    })),
    spareNodes: spares.map(({ object, nodes }) => ({ object: objectField(object), nodes })),
    gaps: gaps.map(gapField),
    ...(simulation.cases === undefined ? {} : { cases: simulation.cases.map(caseField) }),
    ...(mostOutageMs === undefined ? {} : { expected: expectedField(simulation, mostOutageMs) }),
  };
}

function expectedField(simulation: Simulation, mostOutageMs: number): JSONObject {
  const outages = outagesBeyond(simulation, mostOutageMs);
  return {
    mostOutageSeconds: secondsOf(mostOutageMs),
    met: outages.length === 0 && simulation.gaps.length === 0,
    outages: outages.map(({ name, lost }) => ({ name: name.fqdn, lost: lost ?? null })),
  };
}

function caseField({ lost, losses, nodes, isRehearsed, moves, names, spareNodes, scarce }: LossCase): JSONObject {
  return {
    lost,
    losses,
    nodes,
    rehearsed: isRehearsed,
    moves,
    names: names.map(nameField),
    spareNodes: spareNodes ?? null,
    scarce: scarce.map(objectField),
  };
}

function stepField({ atMs, event, actions, holds }: SimulatedStep, startMs: number): JSONObject {
  return {
    atSeconds: secondsOf(atMs - startMs),
    ...(event === undefined ? {} : { event: plain(event) }),
    actions: actions.map((action) => actionField(action, [])),
    holds: holds.map((hold) => holdField(hold, atMs)),
  };
}

/** Returns what clients of a name got, as documents have it. */
export function nameField({ provider, fqdn, ttlSeconds, unservedMs, isUnservedAtEnd, dead }: NameFate): JSONObject {
  return {
    provider,
    name: fqdn,
    ttlSeconds,
    unservedSeconds: secondsOf(unservedMs),
    unservedAtEnd: isUnservedAtEnd,
    deadAnswers:
      dead === undefined
        ? null
        : {
            dead: dead.dead,
            of: dead.of,
            share: dead.dead / dead.of,
            seconds: secondsOf(dead.ms),
            lasting: dead.isLasting,
          },
  };
}

function secondsOf(ms: number): number {
  return Math.round(ms) / 1000;
}
