import { type Action, isAssign, refKey } from "../model/action.ts";
import { sourceNamed } from "../model/address-source.ts";
import type { Observation } from "../model/observation.ts";
import type { Hold, Plan } from "../model/plan.ts";
import { compareText } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import type { Assumptions, CallCount, Moves, SimulatedStep, Simulation, SpareNodes } from "../model/simulation.ts";
import { providerBudgets } from "../plan/budget.ts";
import { plan } from "../plan/plan.ts";
import { withStandIns } from "./announce.ts";
import { type Assumed, begunIn, forward, type Happening, type Step, type Story } from "./forward.ts";
import { namesServed } from "./serving.ts";

/** What is to be rehearsed. */
export interface Rehearsed {
  /** How far to look after the last thing that happens, milliseconds. */
  readonly horizonMs: number;
  readonly assumed: Assumed;
  /** What happens to the world meanwhile. Absent = nothing. */
  readonly scenario?: Scenario;
}

/** Things that happen to a world, and what they are called together. */
export interface Scenario {
  /** `worker-1 is drained`. */
  readonly text: string;
  readonly happenings: readonly Happening[];
  /** What is assumed for it. */
  readonly assumed: Pick<Assumptions, "nodeReadyMs" | "drainMs">;
}

/** Tells what happens next in a world, and what clients of its names get meanwhile. Pure. */
export function simulate(observation: Observation, selection: Selection, rehearsed: Rehearsed): Simulation {
  const { horizonMs, assumed, scenario } = rehearsed;
  const happenings = scenario?.happenings ?? [];
  const story = forward(observation, selection, { horizonMs, assumed, happenings, isLimited: true });
  const known = scenario === undefined ? [] : plan(observation, selection).holds;
  const simulation: Simulation = {
    observedAtMs: observation.observedAtMs,
    cluster: observation.cluster,
    assumed: { ...assumed, horizonMs, ...scenario?.assumed },
    ...(scenario === undefined ? {} : { scenario: scenario.text }),
    steps: stepsOf(story, known, eventsOf(happenings, observation.observedAtMs)),
    endsAtMs: story.world.observedAtMs,
    isCutOff: !story.isAtRest,
    names: namesServed(story),
    moves: movesOf(story, observation),
    calls: callsOf(story, observation),
    spares: sparesOf(story.remaining),
    gaps: story.remaining.gaps,
  };
  return withStandIns(simulation, story.newNodes);
}

function eventsOf(happenings: readonly Happening[], startMs: number): readonly SimulatedStep[] {
  return happenings.map(({ afterMs, text }) => ({ atMs: startMs + afterMs, event: text, actions: [], holds: [] }));
}

/** What happens, what is begun and what is held, in the order of their times; of one moment in this order. */
function stepsOf(
  { steps, holds }: Pick<Story, "steps" | "holds">,
  known: readonly Hold[],
  events: readonly SimulatedStep[],
): readonly SimulatedStep[] {
  const begun = steps.flatMap(begunIn).map((one) => ({ ...one, holds: [] }));
  const held = holds.map(({ atMs, holds: now }, at) => {
    const before = new Set((holds[at - 1]?.holds ?? known).map(holdKey));
    return { atMs, actions: [], holds: now.filter((hold) => !before.has(holdKey(hold))) };
  });
  const all = [...events, ...begun, ...held].filter(
    (step) => "event" in step || step.actions.length + step.holds.length > 0,
  );
  return joined(all.toSorted((a, b) => a.atMs - b.atMs));
}

/** Steps of one moment as one, each with one event at most. */
function joined(steps: readonly SimulatedStep[]): readonly SimulatedStep[] {
  const all: SimulatedStep[] = [];
  for (const step of steps) {
    const last = all.at(-1);
    if (last === undefined || last.atMs !== step.atMs || step.event !== undefined) {
      all.push(step);
      continue;
    }
    all[all.length - 1] = {
      ...last,
      actions: [...last.actions, ...step.actions],
      holds: [...last.holds, ...step.holds],
    };
  }
  return all;
}

/** A hold whose time is another one is another hold. */
function holdKey({ kind, object, subject, reason, notBeforeMs }: Hold): string {
  return `${refKey(object)} ${kind} ${subject} ${reason} ${notBeforeMs}`;
}

/** Counts how often addresses come to another node. Pure. */
export function movesOf({ steps }: Pick<Story, "steps">, observation: Observation): Moves {
  const placeOf = holders(observation);
  const paths = new Map<string, readonly string[]>();
  for (const action of steps.flatMap(({ actions }) => actions)) {
    const arrived = arrivalOf(action);
    if (arrived === undefined) continue;
    const { ip, place, provider } = arrived;
    const before = paths.get(ip) ?? [placeOf(provider, ip) ?? []].flat();
    paths.set(ip, [...before, place]);
  }
  const moved = [...paths].map(([ip, nodes]) => ({ ip, nodes, made: nodes.length - 1 }));
  return {
    made: moved.reduce((sum, { made }) => sum + made, 0),
    needed: moved.filter(({ nodes, made }) => made > 0 && nodes[0] !== nodes.at(-1)).length,
    again: moved.filter(({ made }) => made > 1).map(({ ip, nodes }) => ({ ip, nodes })),
  };
}

function arrivalOf(
  action: Action,
): { readonly ip: string; readonly place: string; readonly provider: string } | undefined {
  if (isAssign(action)) return { ip: action.ip, place: action.after.nodeName, provider: action.provider };
  if (action.kind !== "acquire-ip" || !("node" in action.after)) return undefined;
  const { newAddress: ip = action.id, provider } = action;
  return { ip, place: action.after.node.nodeName, provider };
}

/** Returns the node, or the machine, that an address is on; undefined where it is on none. */
function holders({ nodes, providers, registry }: Observation): (provider: string, ip: string) => string | undefined {
  return (provider, ip) => {
    const fact = providers.get(provider)?.addresses.get(ip);
    const holderID = fact?.kind === "known" ? fact.address.holderID : undefined;
    if (holderID === undefined) return undefined;
    const node = nodes.find(({ providerID }) => registry.machineID(provider, providerID) === holderID);
    return node?.name ?? holderID;
  };
}

const MINUTE_MS = 60_000;

/** Counts the calls of a story by provider. Both families of addresses have one limit, so they are counted together. The calls of a round count as if they were made when it begins. */
function callsOf({ steps }: Pick<Story, "steps">, observation: Observation): readonly CallCount[] {
  const counted = steps.flatMap((step: Step) =>
    providerBudgets(observation, step.actions).map(({ provider, calls }) => ({
      provider: sourceNamed(provider).provider,
      calls,
      atMs: step.atMs,
    })),
  );
  const byProvider = [...Map.groupBy(counted, ({ provider }) => provider)];
  return byProvider
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([provider, own]) => {
      const limit = observation.registry.get(provider)?.allowance;
      const within = (fromMs: number): number =>
        own
          .filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + MINUTE_MS)
          .reduce((sum, { calls }) => sum + calls, 0);
      return {
        provider,
        calls: own.reduce((sum, { calls }) => sum + calls, 0),
        perMinutePeak: Math.max(...own.map(({ atMs }) => within(atMs))),
        ...(limit === undefined ? {} : { limit: { calls: limit.calls, ms: limit.ms } }),
      };
    })
    .filter(({ calls }) => calls > 0);
}

/** The nodes without an address of each pool that has an active one, which could take one. Of a pool that could not be looked at, nobody knows them. Pure. */
export function sparesOf({ pools }: Pick<Plan, "pools">): readonly SpareNodes[] {
  return pools
    .filter(
      ({ blocked, status }) =>
        blocked === undefined && Object.values(status.ips).some(({ state }) => state === "active"),
    )
    .map(({ object, waiting }) => ({ object, nodes: waiting }));
}
